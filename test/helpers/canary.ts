import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Served } from './served.js';

/** A value with everything in it that programs like to write differently. */
export const CANARY = 'kAn4ry/"x"+Wp7~q&Zt9=vE2 mR5%uY8';

/** The ways in which it must not be found, each written out by hand rather than by the code under test. */
export function spellings(value: string): Record<string, string> {
  const bytes = Buffer.from(value);
  const core = (shift: number) =>
    Buffer.concat([Buffer.from('xy'.slice(0, shift)), bytes])
      .toString('base64')
      .slice(shift === 0 ? 0 : shift + 1, -4);
  const hex = bytes.toString('hex');
  return {
    plain: value,
    base64: core(0),
    'base64, shifted by one': core(1),
    'base64, shifted by two': core(2),
    base64url: bytes.toString('base64url').slice(0, -2),
    hex,
    HEX: hex.toUpperCase(),
    url: encodeURIComponent(value),
    'url, lower case': encodeURIComponent(value).replaceAll(/%../g, (escape) => escape.toLowerCase()),
    'url, all of it': hex.replaceAll(/../g, '%$&'),
    json: JSON.stringify(value).slice(1, -1),
    'json in json': JSON.stringify(JSON.stringify(value)).slice(3, -3),
    beginning: value.slice(0, 24),
  };
}

/** Where the canary is to be seen: in anything that was written, printed or sent. None of the files `except` counts. */
export function sightings(
  { place, server, stdout, stderr }: Pick<Served, 'place' | 'server' | 'stdout' | 'stderr'>,
  except: readonly string[],
  value = CANARY,
): string[] {
  const texts = new Map([
    ['stdout', stdout],
    ['stderr', stderr],
    ...server.requests.map(({ raw }, i) => [`request ${i}`, raw] as const),
    ...filesBelow(place.root)
      .filter((file) => !except.some((one) => file.endsWith(`/${one}`)))
      .map((file) => [file, readFileSync(file, 'latin1')] as const),
  ]);
  return [...texts].flatMap(([where, text]) => {
    // However it is broken into lines, also inside JSON.
    const flat = text.replaceAll(/\\n|[\r\n]/g, '');
    return Object.entries(spellings(value))
      .filter(([, spelling]) => text.includes(spelling) || flat.includes(spelling))
      .map(([how]) => `${where}: ${how}`);
  });
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}
