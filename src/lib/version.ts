declare const BOSUN_VERSION: string | undefined;
declare const BOSUN_COMMIT: string | null | undefined;

/** The build inserts it into the bundle. */
export const VERSION: string = typeof BOSUN_VERSION === 'string' ? BOSUN_VERSION : '0.0.0-source';

/** The commit that the bundle was built from, if it was in a repository; `-dirty` if files had changed. */
export const COMMIT: string | null = typeof BOSUN_COMMIT === 'string' ? BOSUN_COMMIT : null;
