// The speed of the matrix products of learning, as shares of this core's peak:
//
//   cmake --build build/native --target peak_probe backward_probe
//   node tests/bench/backward.mjs [ROUNDS]
//
// Each shape is that of a linear layer of the sentiment model or of BERT's base size, with the rows
// of one shard. The peak is that of a register tile (peak.cpp). Both programs run in turn; the best
// of all rounds counts, because a peak is a maximum.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../tools/run.mjs';

const rounds = Number(process.argv[2] ?? 3);
const shapes = [
  [1024, 128, 128],
  [1024, 128, 512],
  [1024, 512, 128],
  [1024, 768, 768],
  [1024, 768, 3072],
].map((shape) => shape.join('x'));

const run = (program, args) =>
  JSON.parse(execFileSync(join(root, 'build/native', program), args, { encoding: 'utf8' }));

let tile = 0;
const best = Object.fromEntries(shapes.map((shape) => [shape, 0]));
let build;
for (let round = 0; round < rounds; round++) {
  tile = Math.max(tile, run('peak_probe', ['3072000']).f32.tile);
  const { linear, ...rest } = run('backward_probe', shapes);
  build = rest.build;
  for (const shape of shapes) best[shape] = Math.max(best[shape], linear[shape]);
}
const shares = Object.entries(best).map(([shape, rate]) => [
  shape,
  Number((rate / tile).toFixed(2)),
]);
console.log(JSON.stringify({ build, tile, linear: best, share: Object.fromEntries(shares) }));
