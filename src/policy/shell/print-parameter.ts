import type { ParameterExpansionPart, ParameterOperation, Word, WordPart } from 'unbash';
import type { Dialect } from './model.js';
import { printGlob } from './print-pattern.js';
import { onlyInBash, reject } from './unreadable.js';

interface ExpansionPrinter {
  readonly dialect: Dialect;
  expansion(part: WordPart): string;
}

const NAME = /^(?:[A-Za-z_]\w*|\d+|[@*])$/;
const SPECIAL = /^[#?$!-]$/;

/** Prints `${…}`, if it only reads a variable, perhaps with a default or with its text cut or replaced. */
export function printParameter(part: ParameterExpansionPart, printer: ExpansionPrinter): string {
  const { parameter, prefix, index, operation, text } = part;
  if (prefix === '!') reject(`${text} reads a variable whose name is in another one`);
  if (SPECIAL.test(parameter) && !prefix && !index && !operation) return `$${parameter}`;
  if (!NAME.test(parameter)) reject(`${text} is not supported`);
  if (index && !/^(\d+|@|\*)$/.test(index.text)) reject(`${text} computes a subscript`);
  if (index) onlyInBash(printer.dialect, 'arrays');
  const name = `${parameter}${index ? `[${index.text}]` : ''}`;
  if (prefix === '#') return operation ? reject(`${text} is not supported`) : `\${#${name}}`;
  return `\${${name}${operation ? printOperation(operation, text, printer) : ''}}`;
}

const OPERATORS: Readonly<Record<string, RegExp>> = {
  Default: /^:?[-+?]$/,
  Remove: /^(?:##?|%%?)$/,
  Replace: /^\/[/#%]?$/,
  CaseModification: /^(?:\^\^?|,,?)$/,
};

function printOperation(operation: ParameterOperation, text: string, printer: ExpansionPrinter): string {
  const { type, operator } = operation;
  if (OPERATORS[type]?.test(operator) === false)
    reject(operator.endsWith('=') ? `${text} sets a variable` : `${text} is not supported`);
  switch (type) {
    case 'Default':
    case 'Remove':
      return `${operator}${printOperand(operation.operand, printer)}`;
    case 'Replace': {
      onlyInBash(printer.dialect, type);
      const pattern = printOperand(operation.pattern, printer);
      // A slash would end the pattern; `#` or `%` at its start would be read as an operator.
      if (pattern === '' || pattern.includes('/') || (operator === '/' && /^[#%]/.test(pattern)))
        reject(`${text} is not supported`);
      return `${operator}${pattern}/${printOperand(operation.replacement, printer)}`;
    }
    case 'CaseModification':
      onlyInBash(printer.dialect, type);
      return `${operator}${operation.operand ? printOperand(operation.operand, printer) : ''}`;
    case 'Slice': {
      onlyInBash(printer.dialect, type);
      const numbers = [operation.offset, ...(operation.length ? [operation.length] : [])];
      return numbers.map((word) => `:${printNumber(word, text)}`).join('');
    }
    default:
      return reject(`it uses ${type}, which is not supported`);
  }
}

/** `:-1` would be a default value; a blank prevents that. */
function printNumber({ text }: Word, whole: string): string {
  const [, sign, digits] = /^\s*(-?)(\d+)$/.exec(text) ?? [];
  if (digits === undefined) reject(`${whole} computes a position`);
  return sign ? ` -${digits}` : digits;
}

/** Text that means the same whether or not the expansion is in quotes. */
const PLAIN = /^[\p{L}\p{N}_.,/:+=@%^*?![\]#;|() -]*$/u;

function printOperand({ text, value, parts }: Word, printer: ExpansionPrinter): string {
  if (!parts) return sameText(text, value);
  return parts
    .map((part) => {
      if (part.type === 'Literal') return sameText(part.text, part.value);
      return part.type === 'Glob' ? sameText(printGlob(part), part.text) : printer.expansion(part);
    })
    .join('');
}

function sameText(spelt: string, meant: string): string {
  return spelt === meant && PLAIN.test(spelt) ? spelt : reject(`${spelt} inside \${…} is not supported`);
}
