// ajv as the worker has loaded it, once for all suites: see jest.ajv.mjs.
module.exports = /** @type {any} */ (globalThis).bosunAjv;
