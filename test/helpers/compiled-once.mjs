// Compiles each file once in a worker, and not again for each suite that loads it: those of jest, of packages, and ours. Suites share
// nothing else: each runs this code in a context of its own.
import vm from 'node:vm';

const { compileFunction, SourceTextModule } = vm;

/** V8 would not know any more who answers for an import at run time. */
const IMPORTS_LATER = /\bimport\s*\(/;

/** What V8 has made of files: `isFixed` if that can be used again. */
class CompiledFiles {
  /** @type {Map<string | undefined, { source: string, isFixed: boolean, data?: Buffer | undefined }>} */
  #files = new Map();

  get(/** @type {string | undefined} */ file, /** @type {string} */ source) {
    let known = this.#files.get(file);
    if (known?.source === source) return known;
    known = { source, isFixed: Boolean(file) && !IMPORTS_LATER.test(source) };
    this.#files.set(file, known);
    return known;
  }
}

const functions = new CompiledFiles();
const modules = new CompiledFiles();

/** @type {typeof compileFunction} */
function functionOf(source, parameters, options) {
  const known = functions.get(options?.filename && `${parameters?.join()} ${options.filename}`, source);
  if (!known.isFixed) return compileFunction(source, parameters, options);
  const { data } = known;
  const made = compileFunction(source, parameters, {
    ...options,
    ...(data ? { cachedData: data } : { produceCachedData: true }),
  });
  // If a suite has set a flag of V8, that refuses what it made before.
  if (!data || made.cachedDataRejected) known.data = made.cachedData;
  return made;
}

/**
 * @param {string} source
 * @param {import('node:vm').SourceTextModuleOptions} [options]
 */
function moduleOf(source, options) {
  const known = modules.get(options?.identifier, source);
  if (!known.isFixed) return new SourceTextModule(source, options);
  if (known.data)
    try {
      return new SourceTextModule(source, { ...options, cachedData: known.data });
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ERR_VM_MODULE_CACHED_DATA_REJECTED')
        throw error;
    }
  const module = new SourceTextModule(source, options);
  known.data = /** @type {any} */ (module).createCachedData();
  return module;
}
moduleOf.prototype = SourceTextModule.prototype;

/** Lets jest compile by these, which it looks up whenever it needs them. */
export function compileOnce() {
  Object.assign(vm, { compileFunction: functionOf, SourceTextModule: moduleOf });
}
