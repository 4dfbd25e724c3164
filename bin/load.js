'use strict';
// Loads the pieces of the bundle with what V8 has made of them before, which takes half the time that compiling them does.
//
// What is kept stands in dist/.compiled, beside what it was compiled from, and never where HOME or a workspace says: whoever
// can write there could as well write the program. It is made by the build, and by the first run with another version of V8
// where the folder can be written. V8 itself refuses what does not fit its version, its flags or the length of the text, but
// executes damaged code as well. So it is only given what is whole, and written by those who could write the program.
const fs = require('node:fs');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = fs;
const { basename, dirname, join, posix } = require('node:path');
const { pathToFileURL } = require('node:url');
const { constants, Script } = require('node:vm');

const root = dirname(__dirname);
const dist = join(root, 'dist');
const address = pathToFileURL(dist).href;

/** Exports by the name of a piece, from dist on. */
const exported = new Map();
/** Pieces that nothing was kept of, or all for those who train. */
const scripts = new Map();

/** Of one build and one V8: V8 itself would take what was compiled from another text of the same length. */
let folder;
function compiledFolder() {
  const build = readFileSync(join(dist, 'build-id'), 'latin1');
  const { platform, arch, versions } = process;
  return join(dist, '.compiled', `${build}-${versions.v8}-${platform}-${arch}`);
}

/** What a piece exports. Each is a script whose value is the function that Node makes of a CommonJS module. */
function load(name, isTraining = false) {
  const before = exported.get(name);
  if (before) return before.exports;
  const module = { exports: {} };
  exported.set(name, module);
  const text = readFileSync(join(dist, name), 'utf8');
  const cachedData = kept(name);
  const script = new Script(text, {
    filename: `${address}/${name}`,
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (isTraining || !cachedData) remember(name, script, isTraining);
  const here = posix.dirname(name);
  const need = (wanted) =>
    wanted.startsWith('.') ? load(posix.join(here, wanted), isTraining) : require(wanted);
  script.runInThisContext()(module.exports, need, module, `${address}/${name}`);
  return module.exports;
}

function kept(name) {
  folder ??= compiledFolder();
  let file;
  try {
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
    file = fs.openSync(join(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return isTrusted(fs.fstatSync(file)) ? unsealed(name, readFileSync(file)) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

/** Nothing kept is as long. */
const MOST_BYTES = 64 * 1024 * 1024;

/** A file of who runs this, of who owns the program, or of root; nobody else could have written to it. */
function isTrusted(stats) {
  if (!stats.isFile() || stats.size > MOST_BYTES) return false;
  const user = process.geteuid?.();
  if (user === undefined) return true;
  return [0, user, fs.statSync(dist).uid].includes(stats.uid) && (stats.mode & 0o022) === 0;
}

const SEAL_BYTES = 32;

/** SHA-256, which most runs need anyway: of the code and of what it is the code of. */
function sealOf(name, code) {
  const { createHash } = require('node:crypto');
  return createHash('sha256')
    .update(`${basename(folder)}/${name}\0`)
    .update(code)
    .digest();
}

function unsealed(name, bytes) {
  const code = bytes.subarray(SEAL_BYTES);
  return sealOf(name, code).equals(bytes.subarray(0, SEAL_BYTES)) ? code : undefined;
}

/** Functions that were called by the end are kept with it. What was compiled under other flags or for coverage is not. */
function remember(name, script, isTraining) {
  const { NODE_OPTIONS, NODE_V8_COVERAGE } = process.env;
  if (process.execArgv.length > 0 || NODE_OPTIONS || NODE_V8_COVERAGE) return;
  if (scripts.size === 0) process.once('exit', () => keep(isTraining));
  scripts.set(name, script);
}

function keep(isTraining) {
  try {
    mkdirSync(join(folder, 'cli'), { recursive: true, mode: 0o755 });
    for (const [name, script] of scripts) {
      const file = join(folder, name);
      const code = script.createCachedData();
      // Runs side by side never see half of it, nor write where another has put a link.
      const part = `${file}.${process.pid}`;
      writeFileSync(part, Buffer.concat([sealOf(name, code), code]), { flag: 'wx', mode: 0o644 });
      renameSync(part, file);
    }
  } catch (error) {
    // A start without it is only slower.
    if (isTraining) throw error;
  }
}

exports.main = (argv, isTraining) => load('cli.js', isTraining).main(argv, pathToFileURL(`${root}/`));
