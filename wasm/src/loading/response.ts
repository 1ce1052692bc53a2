import { within } from '../base/fetch.js';

/** The bytes of a file, from front to back. */
export interface Chunks {
  /** Length of the file, where it is known for sure. */
  readonly total: number | undefined;
  /** The next bytes, of any length; undefined at the end. They are valid until the next call. */
  next(): Promise<Uint8Array | undefined>;
  /** Holds no connection until the next call of `next`, which goes on at the same place. */
  pause?(): void;
  close(): void;
}

/** A response's body. */
export function openResponse(url: string, { body }: Response, timeout?: number): Chunks {
  const reader = body?.getReader();
  return {
    total: undefined,
    async next() {
      return reader && (await within(timeout, url, reader.read())).value;
    },
    close() {
      // Canceling a body that has failed rejects; the failure was reported where it was read.
      reader?.cancel().catch(() => {});
    },
  };
}
