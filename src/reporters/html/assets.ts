/** The page's own script, made from `client/`, and its stylesheet, made from `style/`. The build inserts them. */
export declare const SCRIPT: string;
export declare const STYLE: string;
