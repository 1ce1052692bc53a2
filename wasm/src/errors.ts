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
  // A file did not arrive.
  | 'missing_file'
  | 'invalid_manifest'
  | 'fetch_failed'
  | 'http_error'
  | 'wrong_content_type'
  // The call was given up.
  | 'aborted'
  | 'disposed'
  // The engine cannot run here.
  | 'unsupported_runtime'
  | 'worker_failed';

/**
 * Every error that this package throws or rejects with. Its name is "GlassformerError"; where the
 * code is `aborted` it is "AbortError", which other libraries look for.
 */
export class GlassformerError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    // V8 begins a stack with the name that the error has when its stack is first read.
    this.name = `GlassformerError [${code}]`;
    void this.stack;
    this.name = code === 'aborted' ? 'AbortError' : 'GlassformerError';
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
