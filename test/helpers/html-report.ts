import { openSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { HtmlReport } from '../../src/reporters/html/report.js';
import { stamped, type Timed } from './recorded.js';
import { place } from './served.js';

/** The page about some events, as text. */
export function pageOf(events: Iterable<Timed>): string {
  const report = new HtmlReport();
  for (const line of stamped(events)) report.add(line);
  return [...report.pieces()].join('');
}

/** The same as a file that a browser can open. */
export function fileOf(events: Iterable<Timed>): string {
  const path = join(place().root, 'report.html');
  const file = openSync(path, 'w');
  writeSync(file, pageOf(events));
  closeSync(file);
  return path;
}
