import { diffBlock } from './diff.js';
import { block, element, pairs, type Child } from './elements.js';
import { folded, longText } from './long-text.js';
import { allFields, isFields, textField, valueOf, type Fields } from './values.js';

export function argumentsBlock({ parameters }: Fields): HTMLElement {
  if (!isFields(parameters)) return block('Arguments', valueOf('arguments', parameters) ?? 'none');
  const entries = Object.entries(parameters);
  if (entries.length === 0) return block('Arguments', 'none');
  const list = pairs(entries.map(([name, value]) => [name, valueOf(name, value)]));
  list.classList.add('arguments');
  return block('Arguments', list);
}

export function decisionBlock(decision: Fields): HTMLElement {
  const commands = Array.isArray(decision['commands']) ? decision['commands'].filter(isFields) : [];
  return block(
    'Decision',
    judged(decision),
    commands.length > 0 && commandTable(commands),
    isFields(decision['remedy']) && remedyOf(decision['remedy']),
  );
}

/** What would have allowed it. */
function remedyOf(remedy: Fields): HTMLElement {
  const rules = textField(remedy, 'rules');
  if (rules === '') return element('p', 'fine', textField(remedy, 'none'));
  return folded('Rules that would allow it', () => longText(rules));
}

/** `deny  reason  rule x (file:3)`. */
function judged(decision: Fields): HTMLElement {
  const word = textField(decision, 'decision');
  return element(
    'p',
    'judged',
    element('span', `badge ${word}`, word),
    ` ${textField(decision, 'reason')} `,
    element('span', 'fine', ruleOf(decision)),
  );
}

function ruleOf({ rule }: Fields): string {
  if (!isFields(rule)) return 'no rule, the default';
  return `rule ${textField(rule, 'id')} (${textField(rule, 'file')}:${String(rule['line'])})`;
}

/** Each simple command of a command line, with its own decision. */
function commandTable(commands: readonly Fields[]): HTMLElement {
  const table = element('table', 'commands');
  for (const command of commands) {
    const words = Array.isArray(command['words']) ? command['words'].join(' ') : '';
    const cell = element('th', '', element('code', '', words));
    cell.scope = 'row';
    table.append(element('tr', '', cell, element('td', '', judged(command))));
  }
  return table;
}

export function requestBlock(request: Fields): HTMLElement {
  const when = request['deferred'] ? 'Asked, to be answered later' : 'Asked';
  const diff = textField(request, 'diff');
  const { options } = request;
  const shown = Array.isArray(options)
    ? { ...request, options: options.map(optionName).join(', ') }
    : request;
  const rest = allFields(shown, ['diff', 'tool_call_id', 'tool_name', 'deferred', 'title', 'display_name']);
  return block(when, rest, diff !== '' && diffBlock(diff));
}

/** Older transcripts have only ids. */
function optionName(option: unknown): string {
  return isFields(option) ? textField(option, 'id') : String(option);
}

export function responseBlock(response: Fields): HTMLElement {
  return block('Answered', allFields(response, ['tool_call_id']));
}

export function resultBlock(result: Fields): HTMLElement {
  const { error, change, process, output } = result;
  return element(
    'div',
    '',
    isFields(error) && block(`Error: ${textField(error, 'type')}`, longText(textField(error, 'message'))),
    isFields(change) && changeBlock(change),
    isFields(process) && block('Process', processEnd(process)),
    output !== undefined && block('Output', outputOf(output)),
    pairs([
      ['full output', valueOf('full output', result['full_output'])],
      ['attachments', valueOf('attachments', result['attachments'])],
      ['usage', valueOf('usage', result['usage'])],
    ]),
  );
}

function changeBlock(change: Fields): HTMLElement {
  const lines = `+${String(change['lines_added'])} -${String(change['lines_removed'])}`;
  return block(`Changed ${textField(change, 'path')} ${lines}`, diffBlock(textField(change, 'diff')));
}

function processEnd({ exit_code, signal, timed_out, leftover_pids }: Fields): string {
  const parts = [typeof signal === 'string' ? `killed by ${signal}` : `exit code ${String(exit_code)}`];
  if (timed_out) parts.push('reached its time limit');
  if (Array.isArray(leftover_pids) && leftover_pids.length > 0)
    parts.push(`left behind and ended: ${leftover_pids.join(', ')}`);
  return parts.join(', ');
}

function outputOf(output: unknown): Child {
  if (typeof output === 'string') return output === '' ? 'none' : longText(output);
  return longText(JSON.stringify(output, null, 2));
}
