import { describe, expect, test } from '@jest/globals';
import { markdownOf } from '../../../src/tools/web/markdown.js';
import { within } from '../../helpers/bounds.js';
import { countOf, rounds, sized } from '../../helpers/counts.js';
import { Random } from '../../helpers/random.js';

const BASE = new URL('https://example.org/docs/page.html?q=1');
const markdown = (html: string) => markdownOf(html, BASE).markdown;

describe('a page becomes Markdown', () => {
  test.each([
    ['headings', '<h1>One</h1><h3>Three <em>now</em></h3>', '# One\n\n### Three _now_'],
    ['paragraphs', '<p>One<p>Two<br>lines', 'One\n\nTwo\nlines'],
    ['emphasis', 'a <b>bold</b> and <i>slanted</i> word', 'a **bold** and _slanted_ word'],
    ['code', 'call <code>f(a|b)</code> now', 'call `f(a|b)` now'],
    ['words as they are', '<p>snake_case *stars* [x] 1. #', 'snake_case *stars* [x] 1. #'],
    ['characters', 'Fish &amp; chips &mdash; &eacute;&#233;&#x1F600; &lt;b&gt;', 'Fish & chips — éé😀 <b>'],
    ['lists', '<ul><li>a<li>b<ul><li>c</ul></ul>', '- a\n- b\n  - c'],
    ['numbers', '<ol><li>a<li>b<p>more</ol>', '1. a\n2. b\n   \n   more'.replace(/^ +$/m, '')],
    ['quotes', '<blockquote>a<br>b</blockquote>', '> a\n> b'],
    ['rules', 'a<hr>b', 'a\n\n---\n\nb'],
    ['containers', '<section>a</section><article>b</article>', 'a\n\nb'],
    ['unclosed elements', '<div><b>x<div>y', '**x**\n\ny'],
  ])('%s', (_what, html, expected) => {
    expect(markdown(html).replaceAll(/^ +$/gm, '')).toBe(expected);
  });

  test('links are made absolute; those that lead nowhere lose their target', () => {
    expect(markdown('<a href="../up?a=1&amp;b=2">up</a>')).toBe('[up](https://example.org/up?a=1&b=2)');
    expect(markdown('<a href=#part>part</a>')).toBe('[part](https://example.org/docs/page.html?q=1#part)');
    expect(markdown('<a href="//other.example/">x</a>')).toBe('[x](https://other.example/)');
    expect(markdown('<a href="/card"><div><h3>Card</h3><p>Text</p></div></a>')).toBe(
      '[### Card Text](https://example.org/card)',
    );
    expect(markdown('<a href="javascript:alert(1)">x</a>')).toBe('x');
    expect(markdown('<a data-href="/no">x</a>')).toBe('x');
    expect(markdown('<base href="/base/"><a href=x>x</a>')).toBe('[x](https://example.org/base/x)');
    expect(markdown("<a href='a b\"c'>x</a>")).toBe('[x](https://example.org/docs/a%20b%22c)');
  });

  test('pictures are kept if they say what they show', () => {
    expect(markdown('<img src=a.png alt="A chart">')).toBe('![A chart](https://example.org/docs/a.png)');
    expect(markdown('x<img src=a.png>y<img src="data:image/png;base64,AA" alt=z>')).toBe('xy');
  });

  test('scripts, styles, menus and forms are left out, whatever is in them', () => {
    const noise = [
      '<script>if (a < b) document.write("</div><p>no")</script>',
      '<SCRIPT>no</SCRIPT>',
      '<style>p { content: "<p>no" }</style>',
      '<noscript><p>no</p></noscript>',
      '<nav><ul><li><a href=/>no</a></ul></nav>',
      '<svg><title>no</title><text>no</text></svg>',
      '<select><option>no<option>no</select><button>no</button><textarea>no</textarea>',
      '<template><p>no</p></template><iframe>no</iframe><!-- no --><!no><?no?>',
    ];
    expect(markdown(`<p>yes</p>${noise.join('')}<p>yes</p>`)).toBe('yes\n\nyes');
  });

  test('the title is told apart', () => {
    const page = markdownOf('<title> Fish &amp; chips &#8212; x </title><p>Text', BASE);
    expect(page).toEqual({ title: 'Fish & chips — x', markdown: 'Text' });
  });

  test('every kind of space is one', () => {
    expect(markdown('<p>a&nbsp;b&#160;c&#xA0;d&emsp;e\u2003f&amp;nbsp;g</p>')).toBe('a b c d e f&nbsp;g');
    expect(markdown('<pre>a&#10;&nbsp;&Tab;b</pre>')).toBe('```\na\n  b\n```');
    expect(markdown('a<br><br>&nbsp;<br>b')).toBe('a\n\nb');
  });

  test('programs keep every blank, and a fence that they cannot close', () => {
    expect(markdown('<pre><code class=x><span>def</span> f():\n    return <b>1</b></code></pre>')).toBe(
      '```\ndef f():\n    return 1\n```',
    );
    expect(markdown('<pre>a<br>b<div>c</div>d</pre>')).toBe('```\na\nbc\nd\n```');
    expect(markdown('<pre>```\nx\n```</pre>')).toBe('````\n```\nx\n```\n````');
  });
});

describe('tables stay tables', () => {
  test('with a head', () => {
    expect(
      markdown('<table><thead><tr><th>A<th>B</thead><tbody><tr><td>1<td>2<tr><td>3</td><td></td></table>'),
    ).toBe('| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | |');
  });

  test('without one', () => {
    expect(markdown('<table><tr><td>1<td>2</table>')).toBe('|  |  |\n| --- | --- |\n| 1 | 2 |');
  });

  test('with blocks, bars and links in their cells', () => {
    expect(
      markdown('<table><tr><th>A|B</th></tr><tr><td><p>one</p><p>two</p> <a href=/x>y</a></td></tr></table>'),
    ).toBe('| A\\|B |\n| --- |\n| one<br>two<br>[y](https://example.org/x) |');
  });

  test('with cells that are wider than one', () => {
    expect(
      markdown('<table><tr><th colspan=2>A<th>B<tr><td>1<td>2<td>3<tr><td colspan="3">all</table>'),
    ).toBe('| A | | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| all | | |');
  });

  test('with a caption, between other things', () => {
    expect(markdown('before<table><caption>Cap</caption><tr><th>A</table>after')).toBe(
      'before\n\nCap\n\n| A |\n| --- |\n\nafter',
    );
  });

  test('but those that only lay a page out do not', () => {
    expect(markdown('<table><tr><td>menu</td><td><table><tr><th>A</th></tr></table></td></tr></table>')).toBe(
      'menu\n\n| A |\n| --- |',
    );
  });
});

const SIZE = 5 * countOf('HOSTILE_BYTES');
const fill = (piece: string, length = SIZE) => piece.repeat(Math.ceil(length / piece.length));

/** All that is read of a page: the time for these grew with its square. */
const LONGEST = sized(500_000);

/** Generous: the machine is busy. Without bounds each of these takes minutes, or the stack. */
const ENOUGH_MS = 8000;

describe('a long page takes bounded processor time', () => {
  test.each([
    ['ordinary', fill('<div class="a b"><h2>T</h2><p>Some <b>bold</b> <a href="/x">link</a>.</p></div>\n')],
    ['deep', `${fill('<div>')}x`],
    ['nested quotes', fill('<blockquote>a<br>', SIZE / 10) + fill('a<br>', 0.9 * SIZE)],
    ['one long table', `<table>${fill('<tr><td>x<td>y')}`],
    ['one long list', `<ol>${fill('<li>x')}`],
    ['a mixture without an end', fill('<div><p><ul><li>')],
    ['formatting that never closes', fill('<b><i><a href=x><p></b></i>x')],
    ['attributes', `<p ${Array.from({ length: SIZE / 10 }, (_, i) => `a${i}=1`).join(' ')}>x`],
    ['open quotes', fill('<a x="')],
    ['angle brackets', fill('<')],
    ['backticks', `<pre>${fill('```\n')}`],
    ['spaces that do not collapse', `<p>${fill('&nbsp;', LONGEST)}x`],
    ['spaces by number', `<p>${fill('&#8195;&#xa0;', LONGEST)}x`],
    ['spaces in a link', `<a href=x>${fill('\u00a0', LONGEST)}x</a>`],
    ['spaces in a program', `<pre>${fill(' ', LONGEST)}x</pre>`],
    ['spaces and breaks', `${fill('&nbsp;<br>', LONGEST)}x`],
    ['formatted spaces and breaks', `${fill('<b>\u3000</b><br>', LONGEST)}x`],
  ])('%s', (_what, html) => {
    const text = within(ENOUGH_MS, () => markdown(html));
    expect(text.length).toBeLessThan(6_000_000);
  });

  test('and says that it was too long', () => {
    expect(markdown(fill('<p>word</p>', 5_000_000))).toMatch(
      /\[… the rest of this long page was left out …\]$/,
    );
  });
});

test('whatever the tags, their words come out, and nothing is thrown', () => {
  const random = new Random(11);
  const pieces =
    '<p> </p> <div> </div> <b> </b> <a href=x> </a> <table> </table> <tr> </tr> <td> </td> <th colspan=3> <ul> </ul> <ol> <li> </li> <pre> </pre> <code> </code> <br> <hr> <img src=a alt=b> <nav> </nav> <blockquote> </blockquote> <!--c--> <h1> </h1> &amp; < > " </x <x'.split(
      ' ',
    );
  for (let round = 0; round < rounds(300); round++) {
    const html = random.list(60, () => (random.chance(0.3) ? ' word ' : random.pick(pieces))).join('');
    const outside = `<p>first</p>${html}`;
    expect(markdown(outside)).toMatch(/^first/);
  }
});
