/** The SDK's light half. A file of its own, so that the bundle has of it what is named here, and no more. */
export { GoogleGenAI } from '@google/genai/web';
