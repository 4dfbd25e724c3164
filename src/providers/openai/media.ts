import type { InlineData, Part } from '../../protocol/content.js';

const AUDIO_FORMATS = new Map(
  Object.entries({ 'audio/wav': 'wav', 'audio/x-wav': 'wav', 'audio/mpeg': 'mp3', 'audio/mp3': 'mp3' }),
);

/** A file in the form of a chat message, or undefined for a type that the protocol does not support. */
export function mediaPart({ mimeType, data }: InlineData): object | undefined {
  const url = `data:${mimeType};base64,${data}`;
  if (mimeType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  if (mimeType === 'application/pdf') {
    return { type: 'file', file: { filename: 'attachment.pdf', file_data: url } };
  }
  const format = AUDIO_FORMATS.get(mimeType);
  return format === undefined ? undefined : { type: 'input_audio', input_audio: { data, format } };
}

/** The name of a part that is neither text nor a call. */
export function mediaName(part: Part): string {
  return part.inlineData?.mimeType ?? 'a file elsewhere';
}

/** The user attached something that this protocol cannot carry. */
export class UnsupportedMedia extends Error {
  constructor(type: string) {
    super(`an attachment of type ${type} cannot be sent to an openai/… model`);
  }
}
