// The pictures of tests/fixtures/pictures for Node, which has no decoder.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { root } from '../support/helpers.mjs';

/** Decodes a PNG of 8 bits per channel without interlacing. */
export function decodePng(file) {
  const data = readFileSync(join(root, 'tests/fixtures/pictures/files', file));
  let [width, height, channels, parts] = [0, 0, 0, []];
  for (let at = 8; at < data.length; at += 12 + data.readUInt32BE(at)) {
    const body = data.subarray(at + 8, at + 8 + data.readUInt32BE(at));
    const type = data.toString('latin1', at + 4, at + 8);
    if (type === 'IDAT') parts.push(body);
    if (type !== 'IHDR') continue;
    [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
    channels = { 0: 1, 2: 3, 6: 4 }[body[9]];
    assert.deepEqual([body[8], body[12]], [8, 0], file);
  }
  const rows = inflateSync(Buffer.concat(parts));
  const out = new Uint8Array(width * height * channels);
  const line = width * channels;
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (line + 1)];
    for (let x = 0; x < line; x++) {
      const left = x >= channels ? out[y * line + x - channels] : 0;
      const up = y > 0 ? out[(y - 1) * line + x] : 0;
      const corner = x >= channels && y > 0 ? out[(y - 1) * line + x - channels] : 0;
      const guess = left + up - corner;
      const [a, b, c] = [left, up, corner].map((value) => Math.abs(guess - value));
      const nearest = a <= b && a <= c ? left : b <= c ? up : corner;
      const base = [0, left, up, (left + up) >> 1, nearest][filter];
      out[y * line + x] = rows[y * (line + 1) + 1 + x] + base;
    }
  }
  return { width, height, data: out };
}
