/** The SDK's light half. A file of its own, so that the bundle contains only what is named here. */
export { GoogleGenAI } from '@google/genai/web';
