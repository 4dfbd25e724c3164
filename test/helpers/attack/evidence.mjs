// What is there before and after, and whether a secret is in it.
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const ROOTS = ['/home', '/root', '/srv', '/mnt', '/media', '/run', '/tmp', '/var/tmp', '/dev/shm'];

/** @typedef {Map<string, string>} Snapshot By path: what it is, whose, and a hash of what is in it. */

/** @param {string} except A folder that is not looked at. @returns {Snapshot} */
export function snapshot(except) {
  /** @type {Snapshot} */
  const seen = new Map();
  const visit = (/** @type {string} */ path) => {
    if (path === except) return;
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return;
    const whose = `${(stats.mode & 0o7777).toString(8)} ${stats.uid}`;
    if (stats.isDirectory()) {
      seen.set(path, `folder ${whose}`);
      for (const name of readdirSync(path)) visit(join(path, name));
    } else if (stats.isSymbolicLink()) seen.set(path, `link to ${readlinkSync(path)}`);
    else if (stats.isFile()) {
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
      seen.set(path, `file ${whose} ${stats.nlink} ${hash}`);
    } else seen.set(path, `special ${whose}`);
  };
  ROOTS.forEach(visit);
  return seen;
}

/** @param {Snapshot} before @param {Snapshot} after */
export function changes(before, after) {
  const made = [...after.keys()].filter((path) => !before.has(path));
  const changed = [...after.keys()].filter((path) => before.has(path) && !isSame(before, after, path));
  const gone = [...before.keys()].filter((path) => !after.has(path));
  return { made, changed, gone };
}

/** @param {Snapshot} before @param {Snapshot} after @param {string} path */
function isSame(before, after, path) {
  return before.get(path) === after.get(path);
}

/** Files larger than this are looked at in their first and last part. */
const PART = 16 * 1024 * 1024;

/** @param {string} path @returns {Buffer} */
export function bytesOf(path) {
  if (!lstatSync(path).isFile()) return Buffer.from(path);
  const bytes = readFileSync(path);
  if (bytes.length <= 2 * PART) return bytes;
  return Buffer.concat([bytes.subarray(0, PART), bytes.subarray(-PART)]);
}

/** All spellings of a secret that are searched for. @param {string} value */
export function spellings(value) {
  const bytes = Buffer.from(value);
  const encoded = [0, 1, 2].flatMap((before) => {
    // What is around it changes the first and the last characters.
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const own = text.replaceAll('=', '').slice(before === 0 ? 0 : before + 1, -2);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const hex = bytes.toString('hex');
  const json = JSON.stringify(value).slice(1, -1);
  const all = [value, json, json.replaceAll('/', String.raw`\/`), encodeURIComponent(value)];
  return [...new Set([...all, encodeURIComponent(value).toLowerCase(), hex, hex.toUpperCase(), ...encoded])];
}

/**
 * @param {{name: string, value: string}[]} canaries
 * @param {{where: string, bytes: Buffer}[]} places
 * @returns {string[]} Which secret is where.
 */
export function leaks(canaries, places) {
  // All secrets begin alike: few bytes of a large file have to be looked at closely.
  const byBegin = /** @type {Map<string, {name: string, needle: Buffer}[]>} */ (new Map());
  for (const { name, value } of canaries)
    for (const spelling of spellings(value)) {
      const begin = spelling.slice(0, BEGIN);
      byBegin.set(begin, [...(byBegin.get(begin) ?? []), { name, needle: Buffer.from(spelling) }]);
    }
  return places.flatMap(({ where, bytes }) => {
    const found = new Set();
    for (const [begin, needles] of byBegin)
      for (let at = bytes.indexOf(begin); at >= 0; at = bytes.indexOf(begin, at + 1))
        for (const { name, needle } of needles)
          if (bytes.subarray(at, at + needle.length).equals(needle)) found.add(name);
    return [...found].map((name) => `${name} in ${where}`);
  });
}

/** So many characters of a spelling are the same for all secrets. */
const BEGIN = 4;
