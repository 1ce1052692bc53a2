import { GlassformerError, messageOf } from '../base/errors.js';
import { nodeModule } from '../base/node.js';

/** The size and hash of a file. */
export interface FileFacts {
  /** Size in bytes. */
  size: number;
  /** SHA-256 of its contents in hexadecimal; undefined if it cannot be computed. */
  sha256: string | undefined;
}

/** The files that manifest.json lists, by name. */
export type Manifest = Partial<Record<string, FileFacts>>;

/** Reads `{ "files": { name: { "size", "sha256" } } }`. Returns undefined for JSON without `files`. */
export function parseManifest(bytes: Uint8Array): Manifest | undefined {
  let files: Manifest | null | undefined;
  try {
    const json = JSON.parse(new TextDecoder().decode(bytes)) as { files?: Manifest | null } | null;
    files = json?.files;
  } catch (error) {
    throw invalid(messageOf(error));
  }
  // Web apps and browser extensions have another kind of manifest.json.
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

/** Returns the size and hash of a file's bytes. */
export async function factsOf(bytes: Uint8Array): Promise<FileFacts> {
  const size = bytes.length;
  const node = nodeModule('node:crypto'); // several times as fast as Web Crypto
  if (node) return { size, sha256: node.createHash('sha256').update(bytes).digest('hex') };
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
  if (!subtle) return { size, sha256: undefined }; // Web Crypto is missing on insecure origins
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes as BufferSource));
  const digits = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0'));
  return { size, sha256: digits.join('') };
}
