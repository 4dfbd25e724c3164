import type { TestExpression, Word } from 'unbash';
import { namesInTest } from './arithmetic.js';
import { printRegex } from './print-pattern.js';
import { printWord, type WordReader } from './print-word.js';
import { reject } from './unreadable.js';

const UNARY = /^-[a-hknoprstuvwxzGLNORS]$/;
const BINARY = /^(?:==?|!=|=~|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

/** Prints what is between `[[` and `]]`. */
export function printTest(test: TestExpression, reader: WordReader): string {
  switch (test.type) {
    case 'TestUnary':
      reader.numbers(namesInTest(test), 'a test');
      if (!UNARY.test(test.operator)) reject(`it has a test with ${test.operator}`);
      return `${test.operator} ${printWord(test.operand, reader)}`;
    case 'TestBinary': {
      const { operator, left, right } = test;
      reader.numbers(namesInTest(test), 'a test');
      if (!BINARY.test(operator)) reject(`it has a test with ${operator}`);
      const print = operator === '=~' ? printExpression : printWord;
      return `${printWord(left, reader)} ${operator} ${print(right, reader)}`;
    }
    case 'TestLogical':
      return test.operands.map((operand) => printTest(operand, reader)).join(` ${test.operator} `);
    case 'TestNot':
      return `${'! '.repeat(test.negations.length)}${printTest(test.operand, reader)}`;
    case 'TestGroup':
      return `( ${printTest(test.expression, reader)} )`;
    default:
      return test satisfies never;
  }
}

/**
 * Unquoted, it is a regular expression; quoted or expanded, it is a word. A mix is rejected, because it is not known
 * what the quotes would change.
 */
function printExpression(word: Word, reader: WordReader): string {
  const bare = (word.parts ?? []).filter(({ type }) => type === 'Literal' || type === 'Glob');
  if (bare.length === (word.parts ?? []).length) return printRegex(word.text);
  return bare.length === 0 ? printWord(word, reader) : reject(`the expression ${word.text} is not supported`);
}
