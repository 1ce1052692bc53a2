/** The reason for an error: stable, meant for programs. The message is for people. */
export type ErrorCode =
  // The input or a file is refused by the engine.
  | 'empty_input'
  | 'too_large'
  | 'non_finite'
  | 'invalid_option'
  | 'invalid_config'
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
  // A file did not arrive, or is not the one that the manifest tells of.
  | 'missing_file'
  | 'fetch_failed'
  | 'http_error'
  | 'wrong_content_type'
  | 'timeout'
  | 'integrity'
  | 'invalid_manifest'
  // A function of the caller's, such as onProgress, threw an error: the cause.
  | 'callback_failed'
  // The call was given up.
  | 'aborted'
  | 'disposed'
  // The engine cannot run here.
  | 'unsupported_runtime'
  | 'worker_failed';

/** What an error can tell besides its code and message. */
export interface ErrorDetails {
  cause?: unknown;
  url?: string | undefined;
  status?: number | undefined;
}

/**
 * Every error that this package throws or rejects with. Its name is "GlassformerError". If the code
 * is `aborted` it is "AbortError", or "TimeoutError" if the signal was one of `AbortSignal.timeout`:
 * the names that other libraries look for.
 */
export class GlassformerError extends Error {
  readonly code: ErrorCode;
  /** The URL of the file that did not arrive, or not as it should be. */
  declare readonly url?: string;
  /** The server's HTTP status, where that is the reason. */
  declare readonly status?: number;

  constructor(code: ErrorCode, message: string, options: ErrorDetails = {}) {
    super(message, options);
    this.code = code;
    // V8 begins a stack with the name that the error has when its stack is first read.
    this.name = `GlassformerError [${code}]`;
    void this.stack;
    const { name } = (options.cause ?? {}) as { name?: unknown };
    const aborted = name === 'TimeoutError' ? name : 'AbortError';
    this.name = code === 'aborted' ? aborted : 'GlassformerError';
    if (options.url !== undefined) this.url = options.url;
    if (options.status !== undefined) this.status = options.status;
  }
}

/** The error of an aborted call; the reason given to `AbortController.abort` is its cause. */
export function abortedError(signal: AbortSignal): GlassformerError {
  return new GlassformerError('aborted', 'The call was aborted', { cause: signal.reason });
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal);
}

/** Text of anything that was thrown, without a full stop. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
