import { untrustedFence } from '../lib/fence.js';
import { nearest } from '../lib/nearest.js';
import { cleanText } from '../lib/text.js';
import type { Task } from '../protocol/task.js';
import type { Attachment } from '../protocol/task.js';
import { buildTask } from '../agent/task.js';
import { promptValue } from './tasks/row.js';
import type { BatchSpec, Values } from './spec.js';

/** A name in two braces, and nothing else: `${{ github.ref }}` is ordinary text. */
const PLACEHOLDER = /\{\{(\w+)\}\}/g;

/** The names in a prompt's placeholders. */
export function placeholdersIn(prompt: string): string[] {
  return [...new Set([...prompt.matchAll(PLACEHOLDER)].map(([, name = '']) => name))];
}

/** Puts values into a prompt, literally: what looks like a placeholder in a value is not one. */
export function fillPrompt(prompt: string, values: Values): string {
  return prompt.replaceAll(PLACEHOLDER, (_whole, name: string) => promptValue(values[name] ?? ''));
}

/** Throws if a prompt uses a name that a task does not have, or that may not be in it. */
export function checkNames(
  {
    prompt,
    untrusted,
    fault,
    promptFault,
  }: Pick<BatchSpec, 'prompt' | 'untrusted' | 'fault' | 'promptFault'>,
  values: Values,
  place: string,
): void {
  const names = Object.keys(values);
  const guess = (name: string) => {
    const near = nearest(name, names);
    return near ? ` (did you mean ${near}?)` : '';
  };
  const known = `The names are ${names.join(', ')}.`;
  for (const name of untrusted)
    if (!Object.hasOwn(values, name))
      throw fault(
        ['untrusted', untrusted.indexOf(name)],
        `${place} has no value \`${name}\`${guess(name)}`,
        known,
      );
  for (const name of placeholdersIn(prompt)) {
    if (untrusted.includes(name))
      throw promptFault(
        `{{${name}}}`,
        `{{${name}}} is untrusted, and must not become part of the prompt`,
        'It is attached to the prompt under its name; refer to it without braces.',
      );
    if (!Object.hasOwn(values, name))
      throw promptFault(`{{${name}}}`, `{{${name}}} is not a value of ${place}${guess(name)}`, known);
  }
}

/** What the model is told: the prompt, each untrusted value under its name and in a fence, and the attachments. */
export function promptedTask(
  prompt: string,
  untrusted: readonly string[],
  values: Values,
  attachments: readonly Attachment[],
): Task {
  const { parts: more, ...rest } = buildTask(prompt, attachments);
  const [first, ...others] = more;
  // Always as text: a value that looks like an image would not be fenced.
  const fenced = untrusted.map((name) => ({
    text: untrustedFence(name, cleanText(promptValue(values[name] ?? ''))),
  }));
  const parts = [...(first ? [first] : []), ...fenced, ...others];
  return { ...rest, parts, ...(fenced.length > 0 && { untrusted: true }) };
}
