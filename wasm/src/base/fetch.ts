import { GlassformerError, abortedError, messageOf } from './errors.js';

export interface FetchOptions {
  signal?: AbortSignal | undefined;
  /** Most milliseconds to wait for the next byte. */
  timeout?: number | undefined;
  /** Asks the server itself, whatever a cache on the way holds. */
  reload?: boolean;
  /** Does not tell the server which page asks. */
  anonymous?: boolean | undefined;
  /** Asks for a part only, as the header Range has it; not every server gives it. */
  range?: string | undefined;
}

/** The response to a GET, refused where it cannot be the file that was asked for. */
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
  // Single-page servers answer a missing file with their index page and status 200.
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

/** What `arrival` gives, or a `timeout` error where it takes longer than so many milliseconds. */
export function within<T>(
  timeout: number | undefined,
  url: string,
  arrival: Promise<T>,
): Promise<T> {
  if (timeout === undefined) return arrival;
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      const message = `${url}: not a byte came for ${timeout} ms`;
      reject(new GlassformerError('timeout', message, { url }));
    }, timeout);
    void arrival.then(resolve, reject).then(() => clearTimeout(timer));
  });
}

/** What an exception during reading means. */
export function readError(url: string, error: unknown, signal?: AbortSignal): GlassformerError {
  if (signal?.aborted) return abortedError(signal);
  if (error instanceof GlassformerError) return error;
  const details = { cause: error, url };
  if ((error as { code?: unknown } | undefined)?.code === 'ENOENT') {
    return new GlassformerError('missing_file', `${url}: no such file`, details);
  }
  return new GlassformerError('fetch_failed', `${url}: ${messageOf(error)}`, details);
}

/** Whether an error says that a file is not there, or cannot be reached. */
export function isAbsence(error: unknown): boolean {
  const { code } = error as GlassformerError;
  return (
    code === 'missing_file' ||
    code === 'http_error' ||
    code === 'wrong_content_type' ||
    code === 'fetch_failed'
  );
}
