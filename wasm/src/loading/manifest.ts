import { GlassformerError, messageOf } from '../base/errors.js';
import { nodeModule } from '../base/node.js';

/** What a file is. */
export interface FileFacts {
  /** In bytes. */
  size: number;
  /** SHA-256 of its contents as hexadecimal digits; undefined where it cannot be computed. */
  sha256: string | undefined;
}

/** What manifest.json tells of the files of its folder, by name. */
export type Manifest = Partial<Record<string, FileFacts>>;

/** Reads `{ "files": { name: { "size", "sha256" } } }`; other JSON, which tells of no files, is none. */
export function parseManifest(bytes: Uint8Array): Manifest | undefined {
  let files: Manifest | null | undefined;
  try {
    const json = JSON.parse(new TextDecoder().decode(bytes)) as { files?: Manifest | null } | null;
    files = json?.files;
  } catch (error) {
    throw invalid(messageOf(error));
  }
  // Web apps and browser extensions have a manifest.json as well.
  if (files === undefined) return undefined;
  if (files === null || Object.getPrototypeOf(files) !== Object.prototype) {
    throw invalid('files: expected an object');
  }
  for (const [name, facts] of Object.entries(files)) {
    if (!(Number.isSafeInteger(facts?.size) && /^[\da-f]{64}$/.test(String(facts?.sha256)))) {
      throw invalid(
        `${name}: expected { "size", "sha256" }: a number and 64 digits, 0 to 9, a to f`,
      );
    }
  }
  return files;
}

function invalid(what: string): GlassformerError {
  return new GlassformerError('invalid_manifest', `manifest.json: ${what}`);
}

/** What a file of these bytes is. */
export async function factsOf(bytes: Uint8Array): Promise<FileFacts> {
  const size = bytes.length;
  const node = nodeModule('node:crypto'); // several times as fast
  if (node) return { size, sha256: node.createHash('sha256').update(bytes).digest('hex') };
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
  if (!subtle) return { size, sha256: undefined }; // on insecure origins
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes as BufferSource));
  const digits = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0'));
  return { size, sha256: digits.join('') };
}
