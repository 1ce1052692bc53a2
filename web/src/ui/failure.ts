import { GlassformerError, type ErrorCode } from 'glassformer';

/** An error as the page shows it: what happened, and how to fix it. */
export interface Failure {
  what: string;
  cure: string;
  /** The package's message, for bug reports. */
  detail: string;
}

/** Returns the message for a model that could not be loaded from a folder next to the page. */
export function loadFailure(error: unknown, folder: string): Failure {
  const code = error instanceof GlassformerError ? error.code : 'internal';
  const detail = `${code}: ${error instanceof Error ? error.message : String(error)}`;
  if (isOfPage(error)) return pageFailure(detail);
  switch (code) {
    case 'fetch_failed':
    case 'timeout':
      return {
        what: 'The model could not be fetched.',
        cure: 'Check the connection, then try again.',
        detail,
      };
    case 'http_error':
    case 'missing_file':
      return {
        what: 'A file of the model is not where it should be.',
        cure: `Put the model’s folder next to this page, at ${folder}, then try again.`,
        detail,
      };
    case 'wrong_content_type':
      return {
        what: 'The server sent something other than the model.',
        cure: `It probably sends a page in place of missing files. Put the model at ${folder}, then try again.`,
        detail,
      };
    case 'unsupported_runtime':
      return {
        what: 'This browser cannot run the model.',
        cure: 'It needs WebAssembly with SIMD and exceptions: Chrome 95, Firefox 100, Safari 16.4, or newer.',
        detail,
      };
    case 'worker_failed':
      return {
        what: 'The model’s worker did not start.',
        cure: 'An extension or a policy may have blocked it. Reload the page, or allow workers for it.',
        detail,
      };
    case 'aborted':
      return { what: 'Loading was stopped.', cure: 'Try again.', detail };
    default:
      return {
        what: 'The model’s files are damaged or have another format.',
        cure: 'Reload without the cache. If that does not help, build the page again.',
        detail,
      };
  }
}

/** Whether the missing file is the page's own program, which runs every model. */
const isOfPage = (error: unknown): boolean =>
  error instanceof GlassformerError &&
  ['http_error', 'missing_file', 'wrong_content_type'].includes(error.code) &&
  /\.wasm(:|$)/.test(error.message);

const pageFailure = (detail: string): Failure => ({
  what: 'A part of this page is missing: the program that runs the models.',
  cure: 'Its name ends in .wasm, and it belongs in the page’s “assets” folder. Copy all files of the page there again, then retry.',
  detail,
});

/** How to fix files that cannot be opened, if the package's message does not say so. */
const cures: Partial<Record<ErrorCode, string>> = {
  missing_file: 'Choose the whole folder of a model.',
  fetch_failed: 'Choose the files again.',
  unsupported: 'This page cannot read that yet. Choose a model of another kind.',
  internal: 'Try a smaller model, or 8-bit integers.',
};
const again =
  'A file is damaged, belongs to another model, or is a Git LFS pointer instead of the real file: download all of them again.';

/** Returns the original name of a file that was renamed, such as “model (1).safetensors”. */
const ownName = (name: string) => name.replace(/(?: ?\(\d+\)| copy)(?=\.[^.]*$)/, '');

/** Returns how to rename one of the files, if nothing else is wrong. */
function renaming(message: string, names: readonly string[]): string | undefined {
  const wanted = 'model.safetensors';
  const renamed = names.find((name) => ownName(name) !== name && !names.includes(ownName(name)));
  if (renamed) {
    const file = renamed.split('/').at(-1)!;
    return `Rename ${file} to ${ownName(file)}, then choose the files again.`;
  }
  if (!message.includes(wanted) || names.includes(wanted)) return undefined;
  const weights = names.filter((name) => /^[^/]*\.safetensors$/.test(name));
  if (weights.length === 1)
    return `Rename ${weights[0]} to ${wanted}, then choose the files again.`;
  if (weights.length > 1)
    return `Also choose model.safetensors.index.json, which lists what ${weights.join(' and ')} contain. Or, if one of them is the whole model, rename it to ${wanted}.`;
  return undefined;
}

/** Returns the message for chosen files, given by name, that cannot be opened as a model. */
export function filesFailure(error: unknown, names: readonly string[] = []): Failure {
  const { code, message } =
    error instanceof GlassformerError
      ? error
      : {
          code: 'fetch_failed' as const,
          message: `${error instanceof Error ? error.message : error}`,
        };
  if (code === 'unsupported_runtime' || code === 'worker_failed' || isOfPage(error))
    return loadFailure(error, '');
  const cure =
    renaming(message, names) ?? (/got none/.test(message) ? cures.missing_file : cures[code]);
  const said = message.replace(/[.!?]$/, '');
  return {
    what: code === 'missing_file' ? 'A file is missing.' : 'This cannot be opened.',
    // A message with a semicolon already says how to fix it.
    cure: said.includes(';') ? `${said}.` : `${said}. ${cure ?? again}`,
    detail: code,
  };
}

/** Returns the message for a text that could not be read. The model stays usable. */
export const readFailure = (error: unknown): Failure =>
  textFailure(error, 'This text could not be read.', 'Change it to run the model again');

/** Returns the message for a text that could not be translated. The model stays usable. */
export const translateFailure = (error: unknown): Failure =>
  textFailure(error, 'This text could not be translated.', 'Change it to translate it again');

/** Returns the message for a text that could not be continued. The model stays usable. */
export const writeFailure = (error: unknown): Failure =>
  textFailure(error, 'This text could not be continued.', 'Change it to run the model again');

function textFailure(error: unknown, what: string, change: string): Failure {
  const code = error instanceof GlassformerError ? error.code : 'internal';
  return {
    what,
    cure: `${change}; if nothing helps, reload the page.`,
    detail: `${code}: ${error instanceof Error ? error.message : String(error)}`,
  };
}
