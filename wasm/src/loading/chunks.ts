import { throwIfAborted } from '../base/errors.js';
import type { FetchOptions } from '../base/fetch.js';
import { Download } from './download.js';
import { nodeModule } from '../base/node.js';
import type { Chunks } from './response.js';

/** A file: its absolute URL, or its contents. */
export type Source = string | Uint8Array | Blob;

/** Opens the file at a URL. Requests only the first `part` bytes, if given and the server supports it. */
export async function openUrl(url: string, options: FetchOptions, part?: number): Promise<Chunks> {
  if (url.startsWith('file:')) {
    const fs = nodeModule('node:fs');
    if (fs) return openPath(fs, url, options.signal);
  }
  const download = new Download(url, options);
  await download.ask(part);
  return download;
}

const chunkBytes = 1 << 18;

async function openPath(
  fs: NonNullable<ReturnType<typeof nodeModule<'node:fs'>>>,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Chunks> {
  const handle = await fs.promises.open(new URL(url));
  const stat = await handle.stat();
  const buffer = new Uint8Array(chunkBytes);
  return {
    total: stat.isFile() ? stat.size : undefined,
    async next() {
      throwIfAborted(signal);
      const { bytesRead } = await handle.read(buffer);
      return bytesRead > 0 ? buffer.subarray(0, bytesRead) : undefined;
    },
    close() {
      void handle.close();
    },
  };
}

/** Opens a file in memory. A Blob is read slice by slice. */
export function openBytes(source: Uint8Array | Blob): Chunks {
  const total = 'size' in source ? source.size : source.length;
  let at = 0;
  return {
    total,
    async next() {
      if (at >= total) return undefined;
      if (!('size' in source)) {
        at = total;
        return source;
      }
      const slice = source.slice(at, at + chunkBytes);
      at += slice.size;
      return new Uint8Array(await slice.arrayBuffer());
    },
    close() {},
  };
}
