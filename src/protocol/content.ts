/**
 * The conversation, in the shape of the Gemini API. Unknown fields are kept: what the model said goes back
 * to it exactly as it came.
 */
export interface FunctionCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

export interface FunctionResponse {
  readonly id?: string;
  readonly name: string;
  readonly response: Readonly<Record<string, unknown>>;
}

export interface InlineData {
  readonly mimeType: string;
  readonly data: string;
}

export interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: FunctionCall;
  readonly functionResponse?: FunctionResponse;
  readonly inlineData?: InlineData;
  /** For media in a result: what they show. Sent as text before them, never as a field. */
  readonly mediaName?: string;
  readonly [unknownField: string]: unknown;
}

export interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly Part[];
}

/** The visible text of some parts: no thoughts. */
export function textOf(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) if (part.text && !part.thought) text += part.text;
  return text;
}

export function callsOf(content: Content): FunctionCall[] {
  return content.parts.flatMap(({ functionCall }) => functionCall ?? []);
}
