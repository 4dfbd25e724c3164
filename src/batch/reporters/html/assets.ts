/** The page's own script, built from `client/`, and its stylesheet, built from `style/`. The build inserts them. */
export declare const SCRIPT: string;
export declare const STYLE: string;
