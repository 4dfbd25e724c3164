import type { GoogleGenAI } from '@google/genai/web';

export type SdkAccess =
  | { readonly type: 'api_key'; readonly apiKey: string }
  | { readonly type: 'vertex'; readonly project: string; readonly location: string };

/** What we use of the SDK. */
export type SdkModels = Pick<GoogleGenAI['models'], 'generateContentStream'>;

/** Loads the SDK: its light half for API keys, the whole of it if it must find credentials. */
export async function openSdk(access: SdkAccess, baseUrl: string | undefined): Promise<SdkModels> {
  const httpOptions = baseUrl === undefined ? {} : { httpOptions: { baseUrl } };
  if (access.type === 'api_key') {
    const { GoogleGenAI: Web } = await import('./sdk-web.js');
    return new Web({ apiKey: access.apiKey, ...httpOptions }).models;
  }
  const { GoogleGenAI: Node } = await import('./sdk-node.js');
  const { project, location } = access;
  return new Node({ vertexai: true, project, location, ...httpOptions }).models as unknown as SdkModels;
}
