/** The reason for an error, for programs: it is stable. The message is for people. */
export type ErrorCode =
  // The engine refuses the input or a file.
  | 'empty_input'
  | 'too_large'
  | 'non_finite'
  | 'invalid_option'
  | 'invalid_config'
  | 'invalid_data'
  | 'invalid_picture'
  | 'invalid_safetensors'
  | 'unsupported_dtype'
  | 'missing_tensor'
  | 'unexpected_tensor'
  | 'shape_mismatch'
  | 'invalid_weights'
  | 'invalid_tokenizer'
  | 'invalid_shortlist'
  | 'wrong_task'
  | 'unsupported'
  | 'internal'
  // A file did not arrive, or does not match the manifest.
  | 'missing_file'
  | 'fetch_failed'
  | 'http_error'
  | 'wrong_content_type'
  | 'timeout'
  | 'integrity'
  | 'invalid_manifest'
  // A callback, such as onProgress, threw an error, which is the cause.
  | 'callback_failed'
  // The call was ended early.
  | 'aborted'
  | 'disposed'
  // The engine cannot run here.
  | 'unsupported_runtime'
  | 'worker_failed';

/** Details of an error in addition to its code and message. */
export interface ErrorDetails {
  cause?: unknown;
  url?: string | undefined;
  status?: number | undefined;
  field?: string | undefined;
}

/**
 * Every error that this package throws or rejects with. Its name is "GlassformerError". If the code
 * is `aborted`, the name is "AbortError", or "TimeoutError" if the signal came from
 * `AbortSignal.timeout`: other libraries check for these names.
 */
export class GlassformerError extends Error {
  readonly code: ErrorCode;
  /** The URL of the file that did not arrive or is damaged. */
  declare readonly url?: string;
  /** The server's HTTP status, if it is the reason. */
  declare readonly status?: number;
  /** The option that is wrong, such as "topP". */
  declare readonly field?: string;

  constructor(code: ErrorCode, message: string, options: ErrorDetails = {}) {
    super(message, options);
    this.code = code;
    // V8 builds the stack when it is first read, and begins it with the error's name at that time.
    this.name = `GlassformerError [${code}]`;
    void this.stack;
    const { name } = (options.cause ?? {}) as { name?: unknown };
    const aborted = name === 'TimeoutError' ? name : 'AbortError';
    this.name = code === 'aborted' ? aborted : 'GlassformerError';
    if (options.url !== undefined) this.url = options.url;
    if (options.status !== undefined) this.status = options.status;
    if (options.field !== undefined) this.field = options.field;
  }
}

/** Returns the error of an aborted call. Its cause is the reason given to `AbortController.abort`. */
export function abortedError(signal: AbortSignal): GlassformerError {
  return new GlassformerError('aborted', 'The call was aborted', { cause: signal.reason });
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal);
}

/** Returns the text of anything that was thrown, without a period at its end. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

// Types of the platform that a project may not have: those of browsers, in a program for Node. Where
// they exist, these declarations add nothing to them.

declare global {
  namespace WebAssembly {
    interface Module {}
    interface Memory {}
  }
  interface ImageBitmap {}
  interface OffscreenCanvas {}
  interface HTMLCanvasElement {}
}
