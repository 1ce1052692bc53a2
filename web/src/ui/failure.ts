import { GlassformerError, type ErrorCode } from 'glassformer';

/** An error as the page tells it: what happened, and what to do about it. */
export interface Failure {
  what: string;
  cure: string;
  /** The package's own words, for whoever reports it. */
  detail: string;
}

/** What went wrong while the model was loading from a folder beside the page. */
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
        cure: `Its folder belongs beside this page, at ${folder}. Once it is there, try again.`,
        detail,
      };
    case 'wrong_content_type':
      return {
        what: 'The server sent something that is not the model.',
        cure: `It probably answers missing files with a page. Put the model at ${folder}, then try again.`,
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
        cure: 'An extension or a policy may have stopped it. Reload the page, or allow workers for it.',
        detail,
      };
    case 'aborted':
      return { what: 'Loading was stopped.', cure: 'Try again.', detail };
    default:
      return {
        what: 'The model’s files are damaged or of another kind.',
        cure: 'Reload without the cache. If that does not help, build the page again.',
        detail,
      };
  }
}

/** Whether what is missing is the page's own program, which every model runs in. */
const isOfPage = (error: unknown): boolean =>
  error instanceof GlassformerError &&
  ['http_error', 'missing_file', 'wrong_content_type'].includes(error.code) &&
  /\.wasm(:|$)/.test(error.message);

const pageFailure = (detail: string): Failure => ({
  what: 'A part of this page is missing: the program that runs the models.',
  cure: 'It ends in .wasm and belongs in the page’s folder “assets”. Copy all files of the page there again, then try again.',
  detail,
});

/** What to do with files that cannot be opened, where the package does not say it. */
const cures: Partial<Record<ErrorCode, string>> = {
  missing_file: 'Choose the whole folder of a model.',
  fetch_failed: 'Choose the files again.',
  unsupported: 'This page cannot read that yet. Choose a model of another kind.',
  internal: 'Try a smaller model, or 8-bit integers.',
};
const again =
  'A file is damaged, belongs to another model, or is a Git LFS pointer instead of the real file: download all of them again.';

/** The original name of a file that a browser or hub renamed, such as “model (1).safetensors”. */
const ownName = (name: string) => name.replace(/(?: ?\(\d+\)| copy)(?=\.[^.]*$)/, '');

/** How to rename one of the files, if that is all that is wrong. */
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
    return `Choose model.safetensors.index.json, too, which says what the parts ${weights.join(' and ')} hold. Or rename the whole model’s file to ${wanted}.`;
  return undefined;
}

/** Why the chosen files, given by name, are not a model that can be opened. */
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
    // Behind a semicolon the package has said it.
    cure: said.includes(';') ? `${said}.` : `${said}. ${cure ?? again}`,
    detail: code,
  };
}

/** What went wrong while a text was read. The model stays usable. */
export const readFailure = (error: unknown): Failure =>
  textFailure(error, 'This text could not be read.', 'Change it and it is read again');

/** What went wrong while a text was translated. The model stays usable. */
export const translateFailure = (error: unknown): Failure =>
  textFailure(error, 'This text could not be translated.', 'Change it and it is translated again');

/** What went wrong while a text was continued. The model stays usable. */
export const writeFailure = (error: unknown): Failure =>
  textFailure(error, 'This text could not be continued.', 'Change it and it is read again');

function textFailure(error: unknown, what: string, change: string): Failure {
  const code = error instanceof GlassformerError ? error.code : 'internal';
  return {
    what,
    cure: `${change}; if nothing helps, reload the page.`,
    detail: `${code}: ${error instanceof Error ? error.message : String(error)}`,
  };
}
