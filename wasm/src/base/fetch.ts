import { GlassformerError, abortedError, messageOf } from './errors.js';

export interface FetchOptions {
  signal?: AbortSignal | undefined;
  /** Maximum time in milliseconds to wait for the next byte. */
  timeout?: number | undefined;
  /** Bypasses all caches between here and the server. */
  reload?: boolean;
  /** Sends no referrer. */
  anonymous?: boolean | undefined;
  /** The value of the header Range, for a part of the file. Some servers ignore it. */
  range?: string | undefined;
}

/** Returns the response to a GET. Throws if it cannot be the requested file. */
export async function fetchFile(
  url: string,
  { signal, timeout, reload = false, anonymous = false, range }: FetchOptions = {},
): Promise<Response> {
  const init: RequestInit = {};
  if (signal) init.signal = signal;
  if (reload) init.cache = 'reload';
  if (anonymous) init.referrerPolicy = 'no-referrer';
  if (range !== undefined) init.headers = { range };
  let response;
  try {
    response = await within(timeout, url, fetch(url, init));
  } catch (error) {
    throw readError(url, error, signal);
  }
  const { status } = response;
  if (!response.ok) {
    throw new GlassformerError('http_error', `${url}: HTTP status ${status}`, { url, status });
  }
  // Servers of single-page apps answer a missing file with their index page and status 200.
  const type = response.headers.get('content-type') ?? '';
  if (/^\s*(text\/html|application\/xhtml)/i.test(type)) {
    throw new GlassformerError(
      'wrong_content_type',
      `${url}: the server sent "${type}", a web page instead of the file`,
      { url },
    );
  }
  return response;
}

/** Returns the result of `arrival`. Throws `timeout` if it takes longer than `timeout` milliseconds. */
export function within<T>(
  timeout: number | undefined,
  url: string,
  arrival: Promise<T>,
): Promise<T> {
  if (timeout === undefined) return arrival;
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      const message = `${url}: no byte arrived for ${timeout} ms`;
      reject(new GlassformerError('timeout', message, { url }));
    }, timeout);
    void arrival.then(resolve, reject).then(() => clearTimeout(timer));
  });
}

/** Converts an exception during reading to our error. */
export function readError(url: string, error: unknown, signal?: AbortSignal): GlassformerError {
  if (signal?.aborted) return abortedError(signal);
  if (error instanceof GlassformerError) return error;
  const details = { cause: error, url };
  if ((error as { code?: unknown } | undefined)?.code === 'ENOENT') {
    return new GlassformerError('missing_file', `${url}: no such file`, details);
  }
  return new GlassformerError('fetch_failed', `${url}: ${messageOf(error)}`, details);
}

/** Returns whether an error means that a file does not exist or cannot be reached. */
export function isAbsence(error: unknown): boolean {
  const { code } = error as GlassformerError;
  return (
    code === 'missing_file' ||
    code === 'http_error' ||
    code === 'wrong_content_type' ||
    code === 'fetch_failed'
  );
}
