import { GlassformerError } from 'glassformer';

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
        cure: `It may send a page in place of missing files. Put the model at ${folder}, then try again.`,
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
        cure: 'Reload without the cache, or build the page again.',
        detail,
      };
  }
}

/** Whether the missing file is the page's own program, which runs every model. */
export const isOfPage = (error: unknown): boolean =>
  error instanceof GlassformerError &&
  ['http_error', 'missing_file', 'wrong_content_type'].includes(error.code) &&
  /\.wasm(:|$)/.test(error.message);

const pageFailure = (detail: string): Failure => ({
  what: 'A part of this page is missing: the program that runs the models.',
  cure: 'It is a .wasm file in the page’s “assets” folder. Copy all files there again, then retry.',
  detail,
});

/** Returns the message for a text that could not be read. The model stays usable. */
export const readFailure = (error: unknown): Failure =>
  textFailure(error, 'This text could not be read.', 'Change it to run the model again');

/** Returns the message for a picture that could not be read. The model stays usable. */
export const pictureFailure = (error: unknown): Failure =>
  textFailure(error, 'This picture could not be read.', 'Choose another one');

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
