declare const BOSUN_VERSION: string | undefined;

/** Written into the bundle by the build. */
export const VERSION: string = typeof BOSUN_VERSION === 'string' ? BOSUN_VERSION : '0.0.0-source';
