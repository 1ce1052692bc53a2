// The answers of the command line.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shortest } from './models.mjs';
import { joinSafetensors, splitSafetensors } from './safetensors.mjs';

const methods = [
  'rollout',
  'value_norms',
  'value_zeroing',
  'lens',
  'direct_logit_attribution',
  'activation_patching',
  'faithfulness',
  'edges',
  'circuit',
  'decoder_lens',
];

/** The options of each command, one set per question. */
const questions = {
  classify: [
    ['--attention'],
    ['--ablate', '0.0', '--mask-tokens', '1'],
    ['--contributions'],
    ['--window', 'mean'],
  ],
  ner: [['--attention'], ['--aggregation', 'none'], ['--aggregation', 'average']],
  answer: [['--attention'], ['--handle-impossible-answer']],
  embed: [['--attention'], ['--prompt', 'query: ']],
  fill: [['--attention'], ['--top-k', '3']],
  translate: [
    ['--attention'],
    ['--beams', '1', '--attention', '--ablate', 'cross.0.0'],
    ['--beams', '3', '--hypotheses', '--length-penalty', '0.5', '--early-stopping', 'never'],
    ['--shortlist'],
  ],
  generate: [
    ['--attention', '--max-new-tokens', '12'],
    ['--beams', '3', '--hypotheses', '--max-new-tokens', '10', '--repetition-penalty', '1.3'],
    ['--temperature', '0.8', '--top-k', '20', '--top-p', '0.9', '--seed', '7'],
    ['--no-repeat-ngram-size', '2', '--min-new-tokens', '6', '--stop-strings', 'e'],
    ['--next', '5'],
  ],
};

/** Returns the parts of a test folder's answers. */
export function recordNative(model, command, out) {
  const folder = join(out, 'native', model.name);
  mkdirSync(folder, { recursive: true });
  const ask = (name, args, lines = model.lines) => {
    const input = lines.map((line) => `${line}\n`).join('');
    const { stdout, stderr, status } = spawnSync(command, args, {
      input,
      maxBuffer: 2 ** 30,
      env: { ...process.env, TZ: 'UTC' },
    });
    writeFileSync(join(folder, `${name}.out`), stdout);
    const complaint = stderr.toString().replaceAll(folder, 'OUT').replaceAll(model.folder, 'MODEL');
    writeFileSync(join(folder, `${name}.err`), `${status}\n${complaint}`);
    return { status, stderr: complaint };
  };

  ask('inspect', ['inspect', model.folder]);
  ask('tokenize', ['tokenize', model.folder, '--special']);
  for (const compute of ['f32', 'int8']) {
    const arithmetic = ['--compute', compute];
    for (const [i, options] of questions[model.command].entries()) {
      const args = [model.command, model.folder, '--json', ...arithmetic, ...options];
      ask(`${compute}.${model.command}.${i}`, args);
    }
    ask(`${compute}.lines`, [model.command, model.folder, ...arithmetic]);
    recordTensors(model, folder, compute, ask);
    const pair = [`${model.lines[0]}\t${model.lines[1] ?? model.lines[0]}`];
    for (const method of methods) {
      const args = ['explain', model.folder, '--method', method, '--json', ...arithmetic];
      if (method === 'direct_logit_attribution') args.push('--effects');
      if (method === 'edges') args.push('--edges', '0.0.1.0');
      if (method === 'faithfulness') args.push('--orders', '2');
      if (method === 'circuit') args.push('--least', '0.5');
      ask(
        `${compute}.explain.${method}`,
        args,
        method === 'activation_patching' ? pair : [shortest(model.lines)],
      );
    }
  }
}

/** Records every tensor of the model, and the answers after halving each. */
function recordTensors(model, folder, compute, ask) {
  const listed = ask(`${compute}.names`, [
    'trace',
    model.folder,
    '--compute',
    compute,
    '--names',
    'none',
    '--out',
    join(folder, 'none'),
  ]);
  const names = expand(/; it has (.*)/.exec(listed.stderr)?.[1] ?? '');
  if (names.length === 0) return;
  const line = [shortest(model.lines)];
  const base = ['trace', model.folder, '--compute', compute, '--json'];
  const file = join(folder, `${compute}.trace.safetensors`);
  rmSync(file, { force: true });
  const { status } = ask(
    `${compute}.trace`,
    [...base, '--names', names.join(), '--out', file],
    line,
  );
  if (status !== 0) return;

  const { header, data } = splitSafetensors(readFileSync(file));
  const patch = join(folder, 'patch.safetensors');
  const traced = join(folder, 'patched.safetensors');
  for (const name of names.filter(
    (each) => !each.includes('layers') || /layers\.[01]\./.test(each),
  )) {
    const { shape, data_offsets: place } = header[name];
    const numbers = new Float32Array(data.slice(...place).buffer).map((x) =>
      Number.isFinite(x) ? x / 2 : x,
    );
    const entry = { dtype: 'F32', shape, data_offsets: [0, numbers.byteLength] };
    writeFileSync(patch, joinSafetensors({ [name]: entry }, new Uint8Array(numbers.buffer)));
    rmSync(traced, { force: true });
    const last = names.filter((each) => /logits|output$/.test(each)).at(-1);
    const args = [...base, '--names', last, '--out', traced, '--patch', patch];
    ask(`${compute}.patch.${name}`, args, line);
    if (name === last || !name.includes('self_attn.context')) continue;
    rmSync(traced, { force: true });
    ask(
      `${compute}.patch.${name}.some`,
      [...[...args.slice(0, -2), '--patch', patch, '--patch-heads', '0']],
      line,
    );
  }
  rmSync(patch, { force: true });
  rmSync(traced, { force: true });
}

/** Expands "encoder.layers.0-1.input" to a name per layer. */
function expand(list) {
  return list.split(', ').flatMap((name) => {
    const range = /\.layers\.0-(\d+)\./.exec(name);
    if (!range) return name === '' ? [] : [name];
    return Array.from({ length: Number(range[1]) + 1 }, (_, i) =>
      name.replace(range[0], `.layers.${i}.`),
    );
  });
}
