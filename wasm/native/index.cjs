// The engine of the package glassformer as machine code. `load` of that package calls this.
'use strict';

const { version } = require('./package.json');

// Throws an error that names the package and a cure.
function fail(reason, cause) {
  const message = `@glassformer/native ${version}: ${reason}. The option backend: 'wasm' does without.`;
  throw new Error(message, { cause });
}

function load() {
  try {
    return require('./glassformer.node');
  } catch (error) {
    return fail(error.message, error);
  }
}

/**
 * Returns the functions for a new model, which belongs to the calling thread. `wanted` is the version
 * of glassformer.
 */
exports.open = (wanted) => {
  if (wanted !== version) fail(`glassformer has version ${wanted}; install the same of both`);
  return load().open();
};
