// The speed of training: `glassformer train` beside a plain PyTorch module of the same shape.
//
//   node tests/bench/train.mjs [--threads N] [--runs N]
//
// Both learn the shape of the sentiment classifier (4 layers, d 128, 8 heads) from texts of 256
// tokens, 4,096 tokens a step, with dropout and AdamW, in alternating runs. Needs build/native and,
// for the comparison, python3 with torch. Prints the medians of tokens per second as JSON.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../tools/run.mjs';

const { values: options } = parseArgs({
  options: {
    threads: { type: 'string', default: '1' },
    runs: { type: 'string', default: '3' },
    python: { type: 'string', default: 'python3' },
  },
});

const length = 256;
const scratch = mkdtempSync(join(tmpdir(), 'glassformer-train-'));
const data = join(scratch, 'data.tsv');
const config = join(scratch, 'config.json');

// Words of random letters: no word is one token, so that each text has more than 256 tokens.
function randomTexts(count) {
  let state = 1;
  const random = (below) => {
    state = (state * 48271) % 0x7fffffff;
    return state % below;
  };
  const letter = () => String.fromCharCode(97 + random(26));
  const word = () => Array.from({ length: 3 + random(6) }, letter).join('');
  return Array.from(
    { length: count },
    (_, i) => `${i % 2}\t${Array.from({ length }, word).join(' ')}\n`,
  ).join('');
}

/** Returns the tokens per second of a training after its first steps. */
function ours(run) {
  const folder = join(scratch, `run${run}`);
  const shape = ['--batch-tokens', '4096', '--shard-tokens', '1024', '--held-out', '0'];
  const args = ['train', config, data, folder, '--epochs', '2', '--threads', options.threads];
  const { status, stderr } = spawnSync(
    join(root, 'build/native/glassformer'),
    [...args, ...shape],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(stderr);
  const lines = readFileSync(`${folder}.log.jsonl`, 'utf8').trim().split('\n');
  return median(lines.slice(2).map((line) => JSON.parse(line).tokens_per_second));
}

function theirs() {
  const env = { ...process.env, OMP_NUM_THREADS: options.threads };
  const script = join(root, 'tests/bench/train.py');
  try {
    return JSON.parse(execFileSync(options.python, [script], { encoding: 'utf8', env }));
  } catch (error) {
    console.error(`no comparison: ${error.message}`);
    return undefined;
  }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

try {
  writeFileSync(data, randomTexts(400));
  writeFileSync(config, JSON.stringify({ max_source_length: length }));
  const [own, others] = [[], []];
  for (let run = 0; run < Number(options.runs); run++) {
    own.push(ours(run));
    const other = theirs();
    if (other) others.push(other);
  }
  const result = { threads: Number(options.threads), glassformer: Math.round(median(own)) };
  if (others.length > 0) {
    result.torch = others[0].torch;
    result.pytorch = median(others.map((each) => each.tokens_per_second));
    result.ratio = Number((result.glassformer / result.pytorch).toFixed(2));
  }
  console.log(JSON.stringify(result));
} finally {
  rmSync(scratch, { recursive: true });
}
