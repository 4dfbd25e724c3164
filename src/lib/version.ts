declare const BOSUN_VERSION: string | undefined;
declare const BOSUN_COMMIT: string | null | undefined;

/** Written into the bundle by the build. */
export const VERSION: string = typeof BOSUN_VERSION === 'string' ? BOSUN_VERSION : '0.0.0-source';

/** What the bundle was built from, if that was a repository; `-dirty` if it was not quite that. */
export const COMMIT: string | null = typeof BOSUN_COMMIT === 'string' ? BOSUN_COMMIT : null;
