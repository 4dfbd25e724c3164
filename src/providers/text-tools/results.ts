import { sha256 } from '../../lib/ids.js';
import type { FunctionResponse } from '../../protocol/content.js';

/**
 * A result as text. Its mark is derived from its content, which does not contain it: no output can end its own result
 * and begin another.
 */
export function resultText({ id, name, response }: FunctionResponse): string {
  const { body, error } = bodyOf(response);
  let mark = sha256(body).slice(0, 16);
  while (body.includes(mark)) mark = sha256(mark).slice(0, 16);
  const labels = [
    `name=${JSON.stringify(name)}`,
    ...(id === undefined ? [] : [`id=${JSON.stringify(id)}`]),
    ...(error === undefined ? [] : [`error=${JSON.stringify(error)}`]),
  ];
  const end = body.endsWith('\n') ? '' : '\n';
  return `<tool_result-${mark} ${labels.join(' ')}>\n${body}${end}</tool_result-${mark}>`;
}

function bodyOf(response: FunctionResponse['response']): { readonly body: string; readonly error?: string } {
  const { output, error, type } = response;
  if (typeof error === 'string') return { body: error, error: typeof type === 'string' ? type : 'unknown' };
  if (typeof output === 'string') return { body: output };
  return { body: JSON.stringify(output ?? response) };
}
