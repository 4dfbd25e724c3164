import { expect, test } from '@jest/globals';
import { decodePage } from '../../../src/tools/web/charset.js';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string, mark: number[]) => {
  const bytes = Buffer.from(text, 'utf16le');
  return Buffer.concat([Buffer.from(mark), mark[0] === 0xfe ? bytes.swap16() : bytes]);
};
/** 日本 */
const SHIFT_JIS = Buffer.from([0x93, 0xfa, 0x96, 0x7b]);

test.each<[string, Buffer, string, string]>([
  ['nothing is said', Buffer.from('é日'), 'text/html', 'é日'],
  ['nothing is said and it is old', latin1('caf\xe9 \x80'), 'text/plain', 'café €'],
  ['a header says', latin1('caf\xe9'), 'text/html; charset=ISO-8859-1', 'café'],
  ['a header says in quotes', SHIFT_JIS, 'text/html; x=y; charset="Shift_JIS"', '日本'],
  [
    'a meta element says',
    Buffer.concat([latin1('<meta charset=shift_jis>'), SHIFT_JIS]),
    'text/html',
    '<meta charset=shift_jis>日本',
  ],
  [
    'an old meta element says',
    latin1('<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">\x80'),
    'text/html',
    '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">€',
  ],
  [
    'an XML declaration says',
    latin1('<?xml version="1.0" encoding="ISO-8859-1"?>\xe9'),
    'application/xml',
    '<?xml version="1.0" encoding="ISO-8859-1"?>é',
  ],
  [
    'the header and the page differ',
    latin1('<meta charset=utf-8>\xe9'),
    'text/html; charset=latin1',
    '<meta charset=utf-8>é',
  ],
  ['a mark says UTF-8', Buffer.from('\ufeffé'), 'text/html; charset=latin1', 'é'],
  ['a mark says UTF-16LE', utf16('日本', [0xff, 0xfe]), 'text/html; charset=utf-8', '日本'],
  ['a mark says UTF-16BE', utf16('日本', [0xfe, 0xff]), 'text/html', '日本'],
  ['a header says UTF-16', utf16('日本', []), 'text/plain; charset=utf-16le', '日本'],
  [
    'a page lies that it is UTF-16',
    Buffer.from('<meta charset=utf-16>é'),
    'text/html',
    '<meta charset=utf-16>é',
  ],
  ['nobody knows the encoding', Buffer.from('é'), 'text/html; charset=klingon', 'é'],
  ['it is broken', Buffer.from([0x61, 0xff, 0x62]), 'text/plain; charset=utf-8', 'a\ufffdb'],
])('where %s, it is read like that', (_what, bytes, contentType, text) => {
  expect(decodePage(bytes, contentType)).toBe(text);
});
