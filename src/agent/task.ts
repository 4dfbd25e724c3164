import { decodeText } from '../lib/encoding.js';
import { fence, untrustedFence } from '../lib/fence.js';
import { mediaTypeOf } from '../lib/media-type.js';
import type { Part } from '../protocol/content.js';
import type { MessageEvent } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import type { Attachment, Task } from '../protocol/task.js';

/** The first message: the prompt, then each attachment under its name. */
export function buildTask(prompt: string, attachments: readonly Attachment[]): Task {
  const untrusted = attachments.some((attachment) => attachment.untrusted);
  return {
    text: prompt,
    parts: [{ text: prompt }, ...attachments.flatMap(attachmentParts)],
    ...(untrusted && { untrusted }),
  };
}

function attachmentParts({ label, bytes, untrusted = false }: Attachment): Part[] {
  const mimeType = mediaTypeOf(bytes);
  if (mimeType)
    return [{ text: `Attached: ${label}` }, { inlineData: { mimeType, data: bytes.toString('base64') } }];
  const decoded = decodeText(bytes);
  if (!decoded) {
    throw configProblem('file', `${label} is neither text nor an image, PDF, audio or video file`, {
      hint: 'Attach text or media only.',
    });
  }
  return [
    { text: untrusted ? untrustedFence(label, decoded.text) : fence('attachment', label, decoded.text) },
  ];
}

/** The first message, as the user wrote it and as the model gets it. */
export function taskEvent({ text, untrusted }: Task, parts: readonly Part[]): MessageEvent {
  return { type: 'message', role: 'user', content: text, parts, ...(untrusted && { untrusted }) };
}
