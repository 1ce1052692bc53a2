import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

/** Files that Vite’s preview does not compress. Binaries shrink to a third, weights by a tenth. */
const compressible = /\.(wasm|safetensors|model|bin)$/;

const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const encodings = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, quality),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
};

/** Compresses binaries and the large files of models for `npm start` and the tests, each once. */
export function compression(): Plugin {
  const compressed = new Map<string, Promise<Buffer>>();

  // Returns the headers and the body for a whole file of this kind. Fails if it does not exist.
  async function answer({ method, url, headers }: IncomingMessage, folder: string) {
    const path = decodeURIComponent(new URL(url ?? '/', 'http://page').pathname);
    const accepted = headers['accept-encoding'] ?? '';
    const encoding = (['br', 'gzip'] as const).find((each) => accepted.includes(each));
    if (!encoding || method !== 'GET' || headers.range || !compressible.test(path)) return undefined;
    const file = join(folder, path);
    if (!file.startsWith(folder + sep)) return undefined;
    const { size, mtimeMs } = await stat(file);
    const version = `${size}-${Math.round(mtimeMs)}-${encoding}`;
    const key = `${file} ${version}`;
    let body = compressed.get(key);
    if (!body) compressed.set(key, (body = readFile(file).then(encodings[encoding])));
    const bytes = await body;
    return {
      bytes,
      headers: {
        'Content-Type': path.endsWith('.wasm') ? 'application/wasm' : 'application/octet-stream',
        'Content-Encoding': encoding,
        'Content-Length': bytes.length,
        'Cache-Control': 'no-cache',
        ETag: `W/"${version}"`,
        Vary: 'Accept-Encoding',
      },
    };
  }

  return {
    name: 'compression',
    configurePreviewServer({ config, middlewares }) {
      const folder = resolve(config.root, config.build.outDir);
      middlewares.use((request, response, next) => {
        answer(request, folder).then(
          (found) => {
            if (!found) return next();
            const known = request.headers['if-none-match'] === found.headers.ETag;
            response.writeHead(known ? 304 : 200, { ...config.preview.headers, ...found.headers });
            response.end(known ? undefined : found.bytes);
          },
          () => next(),
        );
      });
    },
  };
}
