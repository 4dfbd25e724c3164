/**
 * The presets as JSON of what each says, by the SHA-256 of its file, with its examples tested. The build writes
 * them (build/presets.mjs); an edited preset is not among these, and is read like any other file.
 */
export const PRESETS: Readonly<Record<string, string>> = {};
