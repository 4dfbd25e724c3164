import type { ArithmeticExpression, ArithmeticWord, TestExpression, Word } from 'unbash';
import { reject } from './unreadable.js';
import { shellWord } from './shell-word.js';

/**
 * Arithmetic looks harmless and is not: the value of a variable is evaluated in turn, and a subscript in it may run
 * commands. So only numbers and variables that the line itself sets to nothing but numbers are accepted.
 */
const INTEGER = /^[+-]?(\d+|0[xX][0-9a-fA-F]+)$/;
/** Not `_`, and not the shell's own variables, which are in capitals: those hold text. */
const NAME = /^[a-z][A-Za-z0-9_]*$/;

const OPERATORS = new Set(
  '+ - * / % ** ++ -- ! ~ << >> <= >= < > == != & ^ | && || = *= /= %= += -= <<= >>= &= ^= |= ,'.split(' '),
);

interface NumbersReader {
  /** Called with the variables that arithmetic reads; undefined if it could run something. */
  numbers(names: readonly string[] | undefined, where: string): void;
}

/** Prints an expression of numbers and names, with blanks between all that could merge. */
export function printArithmetic(expression: ArithmeticExpression | undefined, reader: NumbersReader): string {
  if (!expression) return reject('it has arithmetic that cannot be parsed');
  const print = (inner: ArithmeticExpression) => printArithmetic(inner, reader);
  switch (expression.type) {
    case 'ArithmeticWord':
      if (expression.value.trim() === '') reject('it has arithmetic that cannot be parsed');
      reader.numbers(namesInArithmetic(expression), 'arithmetic');
      return expression.value.trim();
    case 'ArithmeticGroup':
      return `(${print(expression.expression)})`;
    case 'ArithmeticUnary': {
      const { operator, operand, prefix } = expression;
      return prefix ? `${known(operator)} ${print(operand)}` : `${print(operand)} ${known(operator)}`;
    }
    case 'ArithmeticBinary':
      return `${print(expression.left)} ${known(expression.operator)} ${print(expression.right)}`;
    case 'ArithmeticTernary': {
      const { test, consequent, alternate } = expression;
      return `${print(test)} ? ${print(consequent)} : ${print(alternate)}`;
    }
    default:
      return reject(`it uses ${expression.type}, which is not supported`);
  }
}

function known(operator: string): string {
  return OPERATORS.has(operator) ? operator : reject(`it has arithmetic with ${operator}`);
}

/** The variables that a piece of arithmetic reads, or undefined if it could run something. */
function namesInArithmetic({ value, parts = [] }: ArithmeticWord): string[] | undefined {
  const text = value.trim();
  if (INTEGER.test(text)) return [];
  if (NAME.test(text)) return [text];
  const name = expandedName(text);
  const expands = parts.every(({ type }) => type === 'SimpleExpansion' || type === 'ParameterExpansion');
  return name !== undefined && expands ? [name] : undefined;
}

const NUMERIC = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

/** The same for `[[ … ]]`, where some operators evaluate arithmetic. */
export function namesInTest(test: TestExpression): string[] | undefined {
  if (test.type === 'TestUnary') {
    const asksForVariable = test.operator === '-v' || test.operator === '-R';
    const isName = /^[A-Za-z_]\w*$/.test(shellWord(test.operand).literal ?? '');
    return asksForVariable && !isName ? undefined : [];
  }
  if (test.type !== 'TestBinary' || !NUMERIC.has(test.operator)) return [];
  const names = [test.left, test.right].map(namesInOperand);
  return names.includes(undefined) ? undefined : (names as string[][]).flat();
}

function namesInOperand(word: Word): string[] | undefined {
  const text = shellWord(word).literal ?? word.text.replace(/^"(.*)"$/, '$1');
  // `$#` and `$?` are always numbers.
  if (INTEGER.test(text) || text === '$#' || text === '$?') return [];
  const name = NAME.test(text) ? text : expandedName(text);
  return name === undefined ? undefined : [name];
}

/** The name in `$name` and `${name}`. */
function expandedName(text: string): string | undefined {
  const [, plain, braced] = /^\$(?:([a-z]\w*)|\{([a-z]\w*)\})$/.exec(text) ?? [];
  return plain ?? braced;
}

export function isInteger(text: string): boolean {
  return INTEGER.test(text);
}
