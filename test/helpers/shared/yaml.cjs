// yaml as the worker has loaded it, once for all suites. It keeps nothing.
module.exports = /** @type {any} */ (globalThis).bosunYaml;
