// The safetensors format: a header's length, the header as JSON, and the numbers.

export function splitSafetensors(bytes) {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  return { header, data: new Uint8Array(bytes.subarray(8 + length)) };
}

export function joinSafetensors(header, data) {
  let json = JSON.stringify(header);
  json += ' '.repeat((8 - (json.length % 8)) % 8);
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(new TextEncoder().encode(json), 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}
