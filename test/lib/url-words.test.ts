import { describe, expect, test } from '@jest/globals';
import { normalizeUrlWords, urlWords } from '../../src/lib/url-words.js';

function hrefs(text: string): string[] {
  const words = urlWords(text);
  if (!words.ok) throw new Error(words.fault);
  return words.urls.map(({ href }) => href);
}

function fault(text: string): string {
  const words = urlWords(text);
  return words.ok ? '' : words.fault;
}

describe('the URLs of a prompt are its words that begin with http:// or https://', () => {
  test.each([
    [
      'Read https://example.org/a and http://example.com/b',
      ['https://example.org/a', 'http://example.com/b'],
    ],
    ['https://example.org', ['https://example.org/']],
    ['HTTPS://Example.ORG/A', ['https://example.org/A']],
    ['tabs\thttps://a.example/\nlines\u00a0http://b.example/', ['https://a.example/', 'http://b.example/']],
    ['twice https://a.example/ https://a.example/', ['https://a.example/']],
    // What stands at the end of a word is a part of it: it is judged and fetched like that.
    ['see https://example.org/a).', ['https://example.org/a).']],
    ['is it https://example.org/a?', ['https://example.org/a?']],
    ['http://2130706433/', ['http://127.0.0.1/']],
    ['http://0x7f.1/', ['http://127.0.0.1/']],
    ['http://0177.0.0.1/', ['http://127.0.0.1/']],
    ['http://127.0.0.1./', ['http://127.0.0.1/']],
    ['http://１２７.０.０.１/', ['http://127.0.0.1/']],
    ['http://example。org/', ['http://example.org/']],
    ['http://ex%61mple.org/', ['http://example.org/']],
    ['http://bücher.example/', ['http://xn--bcher-kva.example/']],
    ['https://a.example\\@b.example/', ['https://a.example/@b.example/']],
  ])('%s', (text, expected) => {
    expect(hrefs(text)).toEqual(expected);
  });
});

describe('a prompt that cannot be taken at its word says why', () => {
  test.each([
    ['no address here', /contains no URL/],
    ['example.org/page', /contains no URL/],
    ['https:// alone', /is not a URL that can be read/],
    ['https://[bad', /is not a URL that can be read/],
    [`https://a.example/${'x'.repeat(8000)}`, /^https:\/\/a\.example\/x+… has more than 8000 characters/],
    ['http://256.256.256.256/', /is not a URL that can be read/],
    ['https://ok.example (https://hidden.example/x)', /word of its own.*hidden\.example/],
    ['https://ok.example [text](https://hidden.example)', /word of its own/],
    ['https://ok.example <https://hidden.example>', /word of its own/],
    ['https://ok.example "https://hidden.example"', /word of its own/],
    ['https://ok.example \u200bhttps://hidden.example', /word of its own/],
    ['https://ok.example \u0001https://hidden.example', /word of its own/],
    ['https://ok.example https:hidden.example', /word of its own/],
    ['https://ok.example http:\\\\hidden.example', /word of its own/],
    ['https://ok.example ftp://hidden.example', /word of its own/],
    ['https://ok.example file:///etc/passwd', /word of its own/],
  ])('%s', (text, message) => {
    expect(fault(text)).toMatch(message);
  });

  test('twenty URLs are taken, twenty-one are not', () => {
    const urls = (n: number) => Array.from({ length: n }, (_, i) => `https://example.org/${i}`).join(' ');
    expect(hrefs(urls(20))).toHaveLength(20);
    expect(fault(urls(21))).toBe('it contains 21 URLs; at most 20 are fetched in one call');
  });
});

test('for others to read, every URL is spelt the one way that cannot be read differently', () => {
  expect(normalizeUrlWords('Read  HTTPS://A.example\\@b.example/x\nand http://0x7f.1 please')).toBe(
    'Read  https://a.example/@b.example/x\nand http://127.0.0.1/ please',
  );
});
