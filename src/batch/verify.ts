import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../lib/canonical-json.js';
import { errorMessage } from '../lib/errors.js';
import { sha256 } from '../lib/ids.js';
import { toJsonLine } from '../lib/jsonl.js';
import { compileSchema } from '../lib/schema.js';
import { count } from '../lib/text.js';
import { verifyTranscript, type Verification } from '../transcript/verify.js';
import { FolderPaths, mustReadRecord, repeatIn } from './folder.js';
import { foldJournal, type History } from './history.js';
import { readJournal } from './journal/reader.js';
import { JOURNAL_SCHEMA, RESULTS_SCHEMA } from './journal/schema.js';
import { resultsOf } from './results.js';
import { brokenSeal } from './seal.js';

/** Checks the whole folder of a batch: its journal, what is made from it, and every transcript. */
export async function verifyBatch(folder: string): Promise<Verification> {
  const { record, journal } = new FolderPaths(folder);
  if (!existsSync(record) && !existsSync(journal))
    return {
      valid: false,
      unreadable: true,
      message: `${folder} is not the folder of a batch: it has no batch.json`,
    };
  try {
    return { valid: true, message: `${folder}: ${await checkBatch(folder)}` };
  } catch (error) {
    const message = errorMessage(error);
    return { valid: false, message: message.includes(folder) ? message : `${folder}: ${message}` };
  }
}

async function checkBatch(folder: string): Promise<string> {
  const paths = new FolderPaths(folder);
  const record = mustReadRecord(folder);
  const { v: _v, batch_id: _id, sha256: hash, name, ...body } = record;
  if (sha256(canonicalJson({ name, ...body })) !== hash) throw new Error('batch.json was changed');
  const { lines, brokenAt, fault: broken, torn } = readJournal(paths.journal);
  if (brokenAt !== undefined) throw new Error(`journal.jsonl: line ${brokenAt}: ${broken}`);
  const validate = await compileSchema(JOURNAL_SCHEMA);
  for (const [i, line] of lines.entries()) {
    const [fault] = validate(line);
    if (fault) throw new Error(`journal.jsonl: line ${i + 1}: not valid: ${fault}`);
  }
  if (torn) throw new Error(`journal.jsonl: cut off: line ${lines.length + 1} was not finished`);
  const last = lines.at(-1);
  if (last?.type !== 'batch_result')
    throw new Error('journal.jsonl: there is no result: the batch was killed, or is still running');
  const { batch_sha256 } = lines.findLast((line) => line.type === 'batch_init') ?? {};
  if (batch_sha256 !== hash) throw new Error('batch.json does not match the journal');
  const history = foldJournal(lines);
  await checkResults(
    paths,
    resultsOf(body.tasks, history, repeatIn(record)).map((result) => toJsonLine(result)),
  );
  const transcripts = await checkAttempts(folder, history);
  return `valid, ${lines.length} events, ${count(transcripts, 'transcript')}, ${last.status} (exit ${last.exit_code})`;
}

/** Checks the transcripts and patches of all attempts. Returns the number of transcripts. */
async function checkAttempts(folder: string, history: History): Promise<number> {
  let transcripts = 0;
  for (const attempt of [...history.values()].flat()) {
    const { end } = attempt;
    if (end?.patch && !existsSync(join(folder, end.patch))) throw new Error(`${end.patch} is missing`);
    // The journal itself says that it could not be written, because of a full disk for example.
    if (end?.error?.code === 'transcript') continue;
    // A run that was killed, or has not begun, has no result to check.
    if (end?.transcript) {
      const found = await verifyTranscript(join(folder, end.transcript));
      if (!found.valid) throw new Error(found.message);
      transcripts++;
    }
    const broken = await brokenSeal(folder, attempt);
    if (broken !== undefined) throw new Error(broken);
  }
  return transcripts;
}

async function checkResults(paths: FolderPaths, expected: readonly string[]): Promise<void> {
  const validate = await compileSchema(RESULTS_SCHEMA);
  const lines = readFileSync(paths.results, 'utf8').split('\n').filter(Boolean);
  if (lines.length !== expected.length)
    throw new Error(
      `results.jsonl has ${count(lines.length, 'line')}, but there are ${count(expected.length, 'task')}`,
    );
  for (const [i, line] of lines.entries()) {
    const [fault] = validate(JSON.parse(line));
    if (fault) throw new Error(`results.jsonl: line ${i + 1}: not valid: ${fault}`);
    if (line !== expected[i]) throw new Error(`results.jsonl: line ${i + 1} does not match the journal`);
  }
}
