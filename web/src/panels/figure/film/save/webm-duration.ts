/** The duration of a recorded video. Browsers leave it out, and players then show no end. */

const info = [0x15, 0x49, 0xa9, 0x66];
const seekHead = [0x11, 0x4d, 0x9b, 0x74];
const durationId = [0x44, 0x89];

/** Returns the place of some bytes in the first ones of a file, or −1. */
function placeOf(bytes: Uint8Array, wanted: readonly number[], end = 512): number {
  const last = Math.min(end, bytes.length) - wanted.length;
  for (let at = 0; at <= last; at++)
    if (wanted.every((byte, i) => bytes[at + i] === byte)) return at;
  return -1;
}

/**
 * Returns a WebM file with its duration. A file that has one, or whose elements are at places that the
 * file names, stays unchanged.
 */
export function withDuration(
  bytes: Uint8Array<ArrayBuffer>,
  milliseconds: number,
): Uint8Array<ArrayBuffer> {
  const at = placeOf(bytes, info) + info.length;
  if (at < info.length || placeOf(bytes, seekHead) >= 0) return bytes;
  // The size of the element: the leading zeros of its first byte are the number of further bytes.
  const length = Math.clz32(bytes[at]!) - 23;
  const start = at + length;
  let size = bytes[at]! & (0xff >> length);
  for (let i = 1; i < length; i++) size = size * 256 + bytes[at + i]!;
  const own = bytes.subarray(start, start + size);
  const element = new Uint8Array(11);
  element.set([...durationId, 0x88]);
  new DataView(element.buffer).setFloat64(3, milliseconds);
  const larger = size + element.length;
  if (length > 6 || larger >= 2 ** (7 * length) - 1 || placeOf(own, durationId) >= 0) return bytes;
  const whole = new Uint8Array(bytes.length + element.length);
  whole.set(bytes.subarray(0, start));
  for (let i = length - 1, left = larger; i >= 0; i--, left = Math.floor(left / 256))
    whole[at + i] = left % 256;
  whole[at]! |= 0x80 >> (length - 1);
  whole.set(element, start);
  whole.set(bytes.subarray(start), start + element.length);
  return whole;
}
