/** The whole SDK, which finds credentials. A file of its own, as sdk-web.ts is. */
export { GoogleGenAI } from '@google/genai/node';
