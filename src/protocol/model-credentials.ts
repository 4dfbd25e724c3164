// Written by npm run docs from src/providers/registry.ts.

/** Variables whose values are secrets because they are keys of models. */
export const MODEL_CREDENTIALS: readonly string[] = ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'OPENAI_API_KEY'];
