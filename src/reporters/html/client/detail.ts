import { argumentsBlock, decisionBlock, requestBlock, responseBlock, resultBlock } from './call-parts.js';
import { block, element, type Child } from './elements.js';
import { longText } from './long-text.js';
import { allFields, isFields, mainText, textField, valueOf, type Fields } from './values.js';

/** All that is known about a row: its events, one below another. */
export function detailOf(events: readonly Fields[]): HTMLElement {
  return element('div', 'detail', ...events.map(blockOf), origin(events));
}

function blockOf(event: Fields): Child {
  switch (event['type']) {
    case 'tool_use':
      return argumentsBlock(event);
    case 'policy_decision':
      return decisionBlock(event);
    case 'approval_request':
      return requestBlock(event);
    case 'approval_response':
      return responseBlock(event);
    case 'tool_start':
      return undefined;
    case 'tool_output':
      return block('Printed until then', longText(textField(event, 'content')));
    case 'tool_result':
      return resultBlock(event);
    case 'todos':
      return plan(event);
    case 'turn':
      return withText(event, 'said');
    case 'message':
    case 'thought':
      return withText(event, 'content');
    case 'verification':
      return verification(event);
    case 'compression':
      return withText(event, 'summary');
    default:
      return withText(event, 'message');
  }
}

/** An event that is mainly a text. */
function withText(event: Fields, name: string): HTMLElement {
  return element('div', '', mainText(textField(event, name)), allFields(event, [name]));
}

/** A command of the user that checks whether the work is done, or whether anything changed. */
function verification(event: Fields): HTMLElement {
  const output = textField(event, 'output');
  const fields = allFields(event, ['output', 'message']);
  return element(
    'div',
    '',
    mainText(textField(event, 'message')),
    fields,
    output !== '' && block('Output', longText(output)),
  );
}

const MARKS: Readonly<Record<string, string>> = {
  completed: '[x]',
  in_progress: '[>]',
  cancelled: '[-]',
};

function plan({ todos }: Fields): Child {
  if (!Array.isArray(todos)) return valueOf('todos', todos);
  const lines = todos
    .filter(isFields)
    .map((todo) => `${MARKS[textField(todo, 'status')] ?? '[ ]'} ${textField(todo, 'description')}`);
  return longText(lines.join('\n'));
}

/** Where in the transcript this comes from. */
function origin(events: readonly Fields[]): HTMLElement {
  const lines = events.map((event) => Number(event['seq']) + 1).filter((line) => line > 0);
  const id = events.map((event) => textField(event, 'tool_id')).find(Boolean);
  const at = events.map((event) => textField(event, 'timestamp')).find(Boolean);
  const where = `transcript line ${[...new Set(lines)].join(', ')}`;
  return element('p', 'fine', [id, at, where].filter(Boolean).join(' · '));
}
