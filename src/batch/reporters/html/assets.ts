/** The page's own script, made from `client/`, and its stylesheet, made from `style/`. The build puts them in. */
export declare const SCRIPT: string;
export declare const STYLE: string;
