export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Reads a document as strictly as XML 1.0 wants it. No comments, sections or types: reports have none. */
export function parseXml(text: string): XmlElement {
  const bad = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(text);
  if (bad || !text.isWellFormed()) throw new Error(`a character that XML does not have: ${bad?.index}`);
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let rest = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  if (rest === text) throw new Error('no declaration');
  while (rest !== '') {
    const [token = '', , close, name, attributes = '', slash] =
      /^(<(\/)?([a-z-]+)((?:\s+[a-z_-]+="[^"<]*")*)\s*(\/)?>)|^[^<]+/s.exec(rest) ?? [];
    if (token === '') throw new Error(`not XML: ${rest.slice(0, 80)}`);
    rest = rest.slice(token.length);
    const current = open.at(-1) as XmlElement;
    if (name === undefined) {
      if (token.includes(']]>')) throw new Error('the end of a section outside of one');
      current.text += decoded(token);
    } else if (close) {
      if (open.pop()?.name !== name) throw new Error(`${name} ends, but is not open`);
    } else {
      const element = { name, attributes: attributesOf(attributes), children: [], text: '' };
      current.children.push(element);
      if (!slash) open.push(element);
    }
  }
  const [only, ...others] = root.children;
  if (open.length !== 1 || !only || others.length > 0) throw new Error('not one element');
  return only;
}

function attributesOf(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name = '', value = ''] of text.matchAll(/([a-z_-]+)="([^"]*)"/g)) {
    if (name in found) throw new Error(`${name} twice`);
    if (/[\t\n\r]/.test(value)) throw new Error(`white space in ${name} that readers change`);
    found[name] = decoded(value);
  }
  return found;
}

function decoded(text: string): string {
  return text.replaceAll(/&([^;]*;?)/g, (whole, body: string) => {
    const name = body.slice(0, -1);
    if (/^#\d+;$/.test(body)) return String.fromCodePoint(Number(name.slice(1)));
    const character = body.endsWith(';') ? ENTITIES[name] : undefined;
    if (character === undefined) throw new Error(`not an entity: ${whole}`);
    return character;
  });
}

const CHILDREN: Readonly<Record<string, readonly string[]>> = {
  testsuites: ['testsuite'],
  testsuite: ['properties', 'testcase', 'system-out', 'system-err'],
  properties: ['property'],
  testcase: ['skipped', 'error', 'failure'],
};
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  testsuites: ['name', 'tests', 'failures', 'errors', 'skipped', 'time'],
  testsuite: ['name', 'tests', 'failures', 'errors', 'skipped', 'time', 'timestamp'],
  property: ['name', 'value'],
  testcase: ['name', 'classname', 'time'],
  skipped: ['message'],
  error: ['message', 'type'],
  failure: ['message', 'type'],
};

/** Reads a JUnit report, and checks it against what the schemas of CI systems have in common. */
export function parseJunit(text: string): XmlElement {
  const root = parseXml(text);
  if (root.name !== 'testsuites') throw new Error(`the root is ${root.name}`);
  checkElement(root);
  for (const suite of [root, ...root.children]) {
    const cases = root.children.flatMap(({ children }) => children.filter(({ name }) => name === 'testcase'));
    const count = (name: string) => cases.filter((one) => one.children[0]?.name === name).length;
    const counted = { tests: cases.length, failures: count('failure'), errors: count('error') };
    for (const [name, number] of Object.entries({ ...counted, skipped: count('skipped') })) {
      if (suite.attributes[name] !== String(number)) throw new Error(`${name} should be ${number}`);
    }
  }
  return root;
}

function checkElement({ name, attributes, children, text }: XmlElement): void {
  const allowed = CHILDREN[name] ?? [];
  const order = children.map((child) => allowed.indexOf(child.name));
  if (order.includes(-1) || order.some((place, i) => i > 0 && place < (order[i - 1] as number)))
    throw new Error(`${children.map((child) => child.name).join(', ')} in ${name}`);
  if (name === 'testcase' && children.length > 1) throw new Error('a case has one verdict');
  if (allowed.length > 0 && text.trim() !== '') throw new Error(`text in ${name}: ${text}`);
  const wanted = ATTRIBUTES[name] ?? [];
  for (const attribute of Object.keys(attributes))
    if (!wanted.includes(attribute)) throw new Error(`${attribute} of ${name}`);
  for (const attribute of ['name', 'tests', 'classname'].filter((one) => wanted.includes(one)))
    if (!attributes[attribute]) throw new Error(`${name} has no ${attribute}`);
  if ('time' in attributes && !/^\d+(\.\d+)?$/.test(attributes['time'] ?? '')) throw new Error('time');
  if ('timestamp' in attributes && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(attributes['timestamp'] ?? ''))
    throw new Error('timestamp');
  for (const child of children) checkElement(child);
}
