import type { ArithmeticWord, TestExpression, Word } from 'unbash';

/**
 * Arithmetic looks harmless and is not: the value of a variable is evaluated in turn, and a subscript in it may run
 * commands. So only numbers and variables that the line itself never sets to anything but numbers will do.
 */
const INTEGER = /^[+-]?(\d+|0[xX][0-9a-fA-F]+)$/;
/** Not `_`, and none of the shell's own, which are in capitals: those hold texts. */
const NAME = /^[a-z][A-Za-z0-9_]*$/;

/** The variables that a piece of arithmetic reads, or undefined if it could run something. */
export function namesInArithmetic({ value, parts = [] }: ArithmeticWord): string[] | undefined {
  const text = value.trim();
  if (text === '' || INTEGER.test(text)) return [];
  if (NAME.test(text)) return [text];
  const name = /^\$\{?([a-z][A-Za-z0-9_]*)\}?$/.exec(text)?.[1];
  const plain = parts.every(({ type }) => type === 'SimpleExpansion' || type === 'ParameterExpansion');
  return name !== undefined && plain ? [name] : undefined;
}

const NUMERIC = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

/** The same for `[[ … ]]`, where some operators evaluate arithmetic. */
export function namesInTest(test: TestExpression): string[] | undefined {
  if (test.type === 'TestUnary') {
    const asksForVariable = test.operator === '-v' || test.operator === '-R';
    return asksForVariable && !/^[A-Za-z_]\w*$/.test(test.operand.text) ? undefined : [];
  }
  if (test.type !== 'TestBinary' || !NUMERIC.has(test.operator)) return [];
  const names = [test.left, test.right].map(namesInOperand);
  return names.includes(undefined) ? undefined : (names as string[][]).flat();
}

function namesInOperand({ text }: Word): string[] | undefined {
  const bare = text.replace(/^"(.*)"$/, '$1');
  // `$#` and `$?` are numbers whatever happens.
  if (INTEGER.test(bare) || bare === '$#' || bare === '$?') return [];
  const name = /^\$?\{?([a-z][A-Za-z0-9_]*)\}?$/.exec(bare)?.[1];
  return name === undefined ? undefined : [name];
}

export function isInteger(text: string): boolean {
  return INTEGER.test(text);
}
