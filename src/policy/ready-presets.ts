/**
 * The presets as JSON of what each says, by the SHA-256 of its file, with its examples tried. The build writes them
 * (build/presets.mjs); a preset that was edited since is none of these, and is read as any other file.
 */
export const PRESETS: Readonly<Record<string, string>> = {};
