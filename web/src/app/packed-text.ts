/** Long texts in an address: compressed and encoded in URL-safe letters. */

/** The maximum length of a packed text. Other programs may cut off longer links. */
export const longestPacked = 30_000;

/** The maximum length of an unpacked text, whatever length the packed text claims. */
const longestUnpacked = 2_000_000;

async function bytesOf(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > most) {
      await reader.cancel();
      throw new RangeError(`more than ${most} bytes`);
    }
    chunks.push(part.value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

const letters = { '+': '-', '/': '_', '=': '' } as const;
type Letter = keyof typeof letters;

/** Returns undefined if the browser cannot compress or the result is too long for an address. */
export async function pack(text: string): Promise<string | undefined> {
  if (typeof CompressionStream === 'undefined') return undefined;
  // Four letters encode three bytes.
  const most = (longestPacked * 3) / 4;
  try {
    const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate'));
    const bytes = await bytesOf(packed, most);
    const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    return btoa(binary).replace(/[+/=]/g, (letter) => letters[letter as Letter]);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns undefined if `packed` is not a result of `pack`. */
export async function unpack(packed: string): Promise<string | undefined> {
  if (typeof DecompressionStream === 'undefined') return undefined;
  try {
    const binary = atob(packed.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new TextDecoder('utf-8', { fatal: true }).decode(await bytesOf(text, longestUnpacked));
  } catch {
    return undefined;
  }
}
