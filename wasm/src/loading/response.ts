import { within } from '../base/fetch.js';

/** The bytes of a file, from beginning to end. */
export interface Chunks {
  /** Length of the file, if it is certain. */
  readonly total: number | undefined;
  /** Returns the next bytes, of any number; undefined at the end. They are valid until the next call. */
  next(): Promise<Uint8Array | undefined>;
  /** Closes the connection until the next call of `next`, which continues at the same place. */
  pause?(): void;
  close(): void;
}

/** Opens the body of a response. */
export function openResponse(url: string, { body }: Response, timeout?: number): Chunks {
  const reader = body?.getReader();
  return {
    total: undefined,
    async next() {
      return reader && (await within(timeout, url, reader.read())).value;
    },
    close() {
      // Canceling a body that has failed rejects. The failure was reported when it was read.
      reader?.cancel().catch(() => {});
    },
  };
}
