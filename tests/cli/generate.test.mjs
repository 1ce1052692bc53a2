// `glassformer generate`, and other commands with a model that continues texts.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { glassformer, root } from './run.mjs';

const checkpoint = join(root, 'tests/fixtures/checkpoints/gpt2_generate');
const classifier = join(root, 'tests/fixtures/golden/pre_norm_mean');
const expected = JSON.parse(readFileSync(join(checkpoint, 'expected.json'), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'glassformer-generate-'));
after(() => rmSync(scratch, { recursive: true }));

const generate = (args, input, model = checkpoint) =>
  glassformer(['generate', model, ...args], input);
const idsOf = (line) => JSON.parse(line).tokens.map(({ id }) => id);

const flags = {
  maxNewTokens: '--max-new-tokens',
  minNewTokens: '--min-new-tokens',
  beams: '--beams',
  lengthPenalty: '--length-penalty',
  repetitionPenalty: '--repetition-penalty',
  noRepeatNgramSize: '--no-repeat-ngram-size',
};

test('continuations equal those of the original library', () => {
  const lines = expected.texts.map(({ text }) => text).join('\n');
  for (const [index, { options }] of expected.texts[0].runs.entries()) {
    const args = Object.entries(options).flatMap(([key, value]) => [flags[key], String(value)]);
    const { status, lines: answers } = generate(['--json', ...args], lines);
    assert.equal(status, 0);
    assert.deepEqual(
      answers.map(idsOf),
      expected.texts.map(({ runs }) => runs[index].ids),
    );
  }
});

test('each input line gives an output line, with errors in their places', () => {
  const { status, lines, stderr } = generate(
    ['--max-new-tokens', '4'],
    `The film is\n${'a'.repeat(2 ** 20 + 1)}\n\n`,
  );
  assert.equal(status, 1);
  assert.equal(lines.length, 3);
  assert.equal(lines[1], 'error\ttoo_large');
  assert.match(stderr, /line 2: /);
  assert.doesNotMatch(lines[2], /^error/);
  const [json] = generate(['--max-new-tokens', '4', '--json'], 'The film is\n').lines;
  const { text, tokens, promptTokens, ended, clipped } = JSON.parse(json);
  assert.equal(lines[0], text.replaceAll('\n', '\\n').replaceAll('\r', '\\r'));
  assert.deepEqual([tokens.length, promptTokens.length, ended, clipped], [4, 3, false, false]);
  assert.equal(
    tokens
      .map(({ start, end }) => text.slice(start, end))
      .join('')
      .trim(),
    text.trim(),
  );
});

test('the same seed draws the same tokens', () => {
  const draw = (...args) => generate(['--max-new-tokens', '10', ...args], 'The film is\n').stdout;
  assert.equal(draw('--seed', '1'), draw('--seed', '1'));
  assert.notEqual(draw('--seed', '1'), draw('--seed', '2'));
  assert.equal(draw('--seed', '1', '--top-k', '1'), draw());
  assert.equal(draw('--temperature', '0'), draw());
  const { status, stderr } = generate(['--beams', '2', '--top-p', '0.5'], 'a\n');
  assert.equal(status, 1);
  assert.match(stderr, /beams: expected 1 if tokens are sampled/);
});

test('--next shows the possible next tokens', () => {
  const { lines } = generate(['--next', '3', '--json'], 'The film is\n');
  const { next, promptTokens } = JSON.parse(lines[0]);
  assert.deepEqual(
    next.map(({ id }) => id),
    expected.texts[0].next[0].best.slice(0, 3).map(([id]) => id),
  );
  assert.equal(promptTokens.length, 3);
  const [line] = generate(['--next', '3'], 'The film is\n').lines;
  assert.match(line, /^[^\t]+ 0\.1143\d\d\t[^\t]+ 0\.0512\d\d\t[^\t]+ 0\.0362\d\d$/);
});

test('attention covers all tokens that were read', () => {
  const args = ['--json', '--attention', '--max-new-tokens', '5'];
  const { attention, tokens, promptTokens } = JSON.parse(generate(args, 'The film is\n').lines[0]);
  const { layers, heads, queries, keys, data } = attention.decoder;
  const read = promptTokens.length + tokens.length - 1;
  assert.deepEqual([layers, heads, queries, keys], [2, 3, read, read]);
  assert.equal(Buffer.from(data, 'base64').length, 4 * layers * heads * read * read);
  const whole = generate(['--max-new-tokens', '5'], 'The film is\n').stdout;
  const ablated = ['decoder.0.0', 'decoder.0.1', 'decoder.1.2'].join();
  assert.notEqual(
    generate(['--max-new-tokens', '5', '--ablate', ablated], 'The film is\n').stdout,
    whole,
  );
});

test('a converted checkpoint gives the same answers, and works in integers', () => {
  const converted = join(scratch, 'converted');
  assert.equal(glassformer(['convert', checkpoint, converted]).status, 0);
  const args = ['--json', '--beams', '3'];
  const prompts = 'The film is\na\n';
  assert.equal(generate(args, prompts, converted).stdout, generate(args, prompts).stdout);
  const config = JSON.parse(readFileSync(join(converted, 'config.json'), 'utf8'));
  assert.deepEqual([config.task, config.end_ids], ['text-generation', [153]]);
  const { status, lines } = generate(['--compute', 'int8', '--json'], prompts, converted);
  assert.deepEqual([status, lines.length], [0, 2]);
  const quantized = join(scratch, 'quantized');
  assert.equal(glassformer(['quantize', converted, quantized]).status, 0);
  assert.equal(
    generate(['--json'], prompts, quantized).stdout,
    generate(['--json', '--compute', 'int8'], prompts).stdout,
  );
  const small = join(scratch, 'int4');
  assert.equal(glassformer(['quantize', checkpoint, small, '--weights', '4']).status, 0);
  const [answer] = generate(['--json', '--attention'], prompts, small).lines;
  assert.equal(answer, generate(['--json', '--attention', '--compute', 'int4'], prompts).lines[0]);
  assert.notEqual(answer, generate(['--json', '--attention'], prompts, quantized).lines[0]);
});

test('inspect and trace work, and commands of other tasks name the right one', () => {
  const { status, stdout } = glassformer(['inspect', checkpoint]);
  assert.equal(status, 0);
  assert.match(stdout, /transformer\.h\.0\.attn\.bias .*ignored/);
  assert.doesNotMatch(stdout, /c_attn\.bias .*ignored/);
  const file = join(scratch, 'trace.safetensors');
  const names = 'decoder.layers.*.output,logits';
  const args = ['trace', checkpoint, '--names', names, '--out', file, '--json'];
  const traced = glassformer(args, 'The film is\n');
  assert.equal(traced.status, 0);
  const bytes = readFileSync(file);
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString());
  const { tokens, promptTokens } = JSON.parse(traced.lines[0]);
  const read = promptTokens.length + tokens.length - 1;
  assert.deepEqual(header.logits.shape, [read, 500]);
  assert.deepEqual(header['decoder.layers.1.output'].shape, [read, 24]);
  const wrong = glassformer(['classify', checkpoint], 'a\n');
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /wrong_task/);
  assert.match(generate([], 'a\n', classifier).stderr, /wrong_task/);
});

test('the folder has the default options', () => {
  const folder = join(scratch, 'drawing');
  cpSync(checkpoint, folder, { recursive: true });
  const file = join(folder, 'generation_config.json');
  const say = (config) => writeFileSync(file, JSON.stringify({ eos_token_id: 153, ...config }));
  const write = (...args) => generate(['--json', ...args], 'The film is\n', folder);
  say({ max_length: 9 });
  assert.equal(idsOf(write().lines[0]).length, 6);
  say({ max_length: 2 }); // at least one token
  assert.equal(idsOf(write().lines[0]).length, 1);
  say({ max_new_tokens: 7, do_sample: true, temperature: 5, top_k: 0 });
  assert.equal(idsOf(write().lines[0]).length, 7);
  assert.notEqual(write('--seed', '1').stdout, write('--seed', '2').stdout);
  assert.equal(write().status, 0);
  say({ num_beams: 3 });
  assert.equal(write().stdout, generate(['--json', '--beams', '3'], 'The film is\n').stdout);
  say({ no_repeat_ngram_size: 2, min_new_tokens: 12 });
  const asked = ['--no-repeat-ngram-size', '2', '--min-new-tokens', '12'];
  assert.equal(write().stdout, generate(['--json', ...asked], 'The film is\n').stdout);
  assert.notEqual(write().stdout, write('--no-repeat-ngram-size', '0').stdout);
  say({ num_beam_groups: 2 });
  const { status, stderr } = write();
  assert.equal(status, 1);
  assert.match(
    stderr,
    /unsupported: generation_config.json: num_beam_groups: expected 1, got 2; take it out/,
  );
});

// A model with an encoder.
for (const name of ['t5', 'flan_t5', 'mt5']) {
  const folder = join(root, 'tests/fixtures/checkpoints', name);
  const { texts } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
  const lines = texts.map(({ text }) => text).join('\n');

  test(`${name}: answers equal those of the original library, also after conversion`, () => {
    const converted = join(scratch, name);
    assert.equal(glassformer(['convert', folder, converted]).status, 0);
    for (const [index, { options }] of texts[0].runs.entries()) {
      const args = Object.entries(options).flatMap(([key, value]) => [flags[key], String(value)]);
      const { status, lines: answers, stdout } = generate(['--json', ...args], lines, folder);
      assert.equal(status, 0);
      assert.deepEqual(
        answers.map(idsOf),
        texts.map(({ runs }) => runs[index].ids),
      );
      assert.equal(generate(['--json', ...args], lines, converted).stdout, stdout);
    }
    const { task } = JSON.parse(readFileSync(join(converted, 'config.json'), 'utf8'));
    assert.equal(task, 'text2text-generation');
    const quantized = join(scratch, `${name}_int8`);
    assert.equal(glassformer(['quantize', converted, quantized]).status, 0);
    assert.equal(
      generate(['--json'], lines, quantized).stdout,
      generate(['--json', '--compute', 'int8'], lines, folder).stdout,
    );
  });
}

test('an answer has the attention of encoder and decoder, and cross-attention', () => {
  const folder = join(root, 'tests/fixtures/checkpoints/t5');
  const text = 'translate English to German: The film is good.\n';
  const args = ['--json', '--max-new-tokens', '5', '--beams', '2'];
  const [line] = generate([...args, '--attention'], text, folder).lines;
  const { attention, tokens, promptTokens, clipped } = JSON.parse(line);
  const shapeOf = ({ layers, heads, queries, keys }) => [layers, heads, queries, keys];
  const [source, target] = [promptTokens.length, tokens.length];
  assert.equal(clipped, false);
  assert.deepEqual(shapeOf(attention.encoder), [2, 3, source, source]);
  assert.deepEqual(shapeOf(attention.decoder), [2, 3, target, target]);
  assert.deepEqual(shapeOf(attention.cross), [2, 3, target, source]);
  const plain = generate(args, text, folder).stdout;
  for (const site of ['encoder', 'decoder', 'cross']) {
    const ablated = [0, 1, 2].map((head) => `${site}.0.${head}`).join();
    assert.notEqual(generate([...args, '--ablate', ablated], text, folder).stdout, plain);
  }
  const { status, stderr } = generate(['--ablate', 'encoder.2.0'], text, folder);
  assert.deepEqual([status, /ablate: /.test(stderr)], [1, true]);

  const file = join(scratch, 'answer.safetensors');
  const names = 'encoder.layers.*.self_attn.scores,decoder.layers.1.output,logits';
  assert.equal(glassformer(['trace', folder, '--names', names, '--out', file], text).status, 0);
  const bytes = readFileSync(file);
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString());
  assert.deepEqual(header['encoder.layers.1.self_attn.scores'].shape, [3, source, source]);
  assert.deepEqual(header.logits.shape, [header['decoder.layers.1.output'].shape[0], 320]);
});

test('a task of config.json sets its prefix and options, and a folder sets its prefix', () => {
  const { folders } = JSON.parse(
    readFileSync(join(root, 'tests/fixtures/checkpoints/task_options.json'), 'utf8'),
  );
  for (const [index, { base, config, runs }] of folders.entries()) {
    const folder = join(scratch, `tasks${index}`);
    cpSync(join(root, 'tests/fixtures/checkpoints', base), folder, { recursive: true });
    const file = join(folder, 'config.json');
    const own = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...own, ...config }));
    for (const task of [undefined, ...Object.keys(config.task_specific_params ?? {})]) {
      for (const prefix of [undefined, false]) {
        const same = runs.filter(
          ({ options }) =>
            options.task === task &&
            options.prefix === prefix &&
            options.beams === undefined &&
            options.maxNewTokens === undefined,
        );
        assert.ok(same.length > 0);
        const args = ['--json', ...(task ? ['--task', task] : [])];
        if (prefix === false) args.push('--no-prefix');
        const { lines } = generate(args, same.map(({ text }) => `${text}\n`).join(''), folder);
        assert.deepEqual(
          lines.map(idsOf),
          same.map(({ ids }) => ids),
          `${base} ${args.join(' ')}`,
        );
        const out = join(scratch, 'traced.safetensors');
        const names = ['--names', 'decoder.layers.*.output', '--out', out];
        const traced = glassformer(['trace', folder, ...names, ...args], `${same[0].text}\n`);
        assert.deepEqual(idsOf(traced.stdout), same[0].ids);
        rmSync(out);
      }
    }
  }
  const folder = join(scratch, 'tasks0');
  const summaries = folders[0].runs.filter(
    ({ options }) => options.task === 'summarization' && Object.keys(options).length === 1,
  );
  const text = summaries.map((each) => `${each.text}\n`).join('');
  const summarized = glassformer(['summarize', folder, '--json'], text);
  assert.deepEqual(
    summarized.stdout.trim().split('\n').map(idsOf),
    summaries.map(({ ids }) => ids),
  );
  const writer = join(root, 'tests/fixtures/checkpoints/gpt2_generate');
  const refused = glassformer(['summarize', writer], text);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /expected "text2text-generation", got "text-generation"/);
  const unknown = generate(['--task', 'summary'], 'a\n', folder);
  assert.deepEqual([unknown.status, /one of "summarization"/.test(unknown.stderr)], [1, true]);
  const { stdout } = glassformer(['inspect', join(scratch, 'tasks1')]);
  assert.match(stdout, /"prefix": "answer: "/);
  assert.match(stdout, /"summarization": \{/);
  assert.match(stdout, /"prefix": "summarize: "/);
});
