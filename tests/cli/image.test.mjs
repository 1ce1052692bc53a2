// `glassformer image`, and the other commands with models that read pictures.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { glassformer, root } from './run.mjs';

const pictures = join(root, 'tests/fixtures/pictures');
const vit = join(pictures, 'checkpoints/vit');
const file = (name) => join(pictures, 'files', name);
const scratch = mkdtempSync(join(tmpdir(), 'glassformer-image-'));
after(() => rmSync(scratch, { recursive: true }));

const expectedOf = (folder) => JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));

// Checks the answers of a folder against those of the library transformers.
function assertAnswers(folder, expected, tolerance) {
  const plain = expected.pictures.filter(({ size }) => !size);
  const paths = plain.map((picture) => file(picture.file));
  const { status, lines, stderr } = glassformer(['image', folder, ...paths, '--json']);
  assert.equal(status, 0, stderr);
  assert.equal(lines.length, plain.length);
  for (const [i, line] of lines.entries()) {
    const { label, score, scores } = JSON.parse(line);
    assert.equal(label, plain[i].label);
    assert.equal(score, scores.find((each) => each.label === label).score);
    assert.deepEqual(
      scores.map((each) => each.label),
      expected.labels,
    );
    for (const [c, { score: value }] of scores.entries()) {
      assert.ok(Math.abs(value - plain[i].scores[c]) < tolerance, `${value} ${plain[i].scores[c]}`);
    }
  }
}

test('image gives a label and a score per file', () => {
  const { status, lines } = glassformer(['image', vit, file('rgb8.png'), file('jpeg_large.jpg')]);
  assert.equal(status, 0);
  assert.equal(lines.length, 2);
  for (const line of lines) assert.match(line, /^[a-z ]+\t[01]\.\d{6}$/);
});

test('image --json gives the answers of the library, from every checkpoint', () => {
  const names = ['vit', 'vit_wide', 'vit_gray', 'vit_defaults', 'deit', 'deit_teacher'];
  for (const name of [...names, '../clip/clip_classes']) {
    const folder = join(pictures, 'checkpoints', name);
    assertAnswers(folder, expectedOf(folder), 1e-4);
  }
});

test('converted folders give the same answers, and quantized ones nearly', () => {
  for (const name of ['vit_wide', 'deit_teacher', 'vit_defaults', '../clip/clip_classes']) {
    const folder = join(pictures, 'checkpoints', name);
    const converted = join(scratch, name.split('/').at(-1));
    const { status, stderr } = glassformer(['convert', folder, converted]);
    assert.equal(status, 0, stderr);
    assertAnswers(converted, expectedOf(folder), 1e-4);
    const quantized = `${converted}_int8`;
    assert.equal(glassformer(['quantize', converted, quantized]).status, 0);
    const inspected = glassformer(['inspect', quantized]);
    assert.equal(inspected.status, 0, inspected.stderr);
    assert.match(inspected.stdout, /encoder\.embed_patches\.weight +I8/);
    assert.equal(glassformer(['image', quantized, file('rgb8.png')]).status, 0);
  }
});

test('CLIP chooses from labels of one’s own, and its folders can be converted and quantized', () => {
  for (const name of ['clip', 'clip_wide']) {
    const clip = join(pictures, 'clip', name);
    const expected = expectedOf(clip);
    const labels = expected.labels.flatMap((label) => ['--labels', label]);
    const converted = join(scratch, `${name}-converted`);
    const quantized = join(scratch, `${name}-quantized`);
    assert.equal(glassformer(['convert', clip, converted]).status, 0);
    assert.equal(glassformer(['quantize', converted, quantized]).status, 0);
    const paths = expected.pictures.map((picture) => file(picture.file));
    for (const folder of [clip, converted]) {
      const { lines } = glassformer(['image', folder, ...paths, '--json', ...labels]);
      assert.equal(lines.length, paths.length);
      for (const [i, line] of lines.entries()) {
        const { label, scores } = JSON.parse(line);
        assert.equal(label, expected.pictures[i].label);
        scores.forEach(({ score }, c) =>
          assert.ok(Math.abs(score - expected.pictures[i].scores[c]) < 1e-4),
        );
      }
    }
    const { lines } = glassformer(['image', quantized, ...paths, ...labels]);
    assert.equal(lines[0].split('\t')[0], expected.pictures[0].label);
    const traced = join(scratch, `${name}.safetensors`);
    const names = ['--names', 'encoder.layers.*.output', '--out', traced];
    assert.equal(glassformer(['trace', clip, ...names, '--labels', 'a'], paths[0]).status, 0);
  }
  const clip = join(pictures, 'clip/clip');
  const refused = (message, ...options) => {
    const { status, stderr } = glassformer(['image', ...options, file('rgb8.png')]);
    assert.equal(status, 1);
    assert.match(stderr, message);
  };
  refused(/--labels: expected at least one/, clip);
  refused(/--labels: expected a model that compares/, vit, '--labels', 'a');
  refused(/--top-k, --contributions/, clip, '--labels', 'a', '--json', '--top-k', '1');
  refused(/--hypothesis-template/, clip, '--labels', 'a', '--hypothesis-template', 'a photo');
});

test('options choose labels, another size, heads and patches', () => {
  const answer = (...options) => {
    const { status, lines, stderr } = glassformer([
      ...['image', vit, file('jpeg_large.jpg'), '--json'],
      ...options,
    ]);
    assert.equal(status, 0, stderr);
    return JSON.parse(lines[0]);
  };
  const plain = answer();
  assert.deepEqual(plain.grid, { rows: 4, columns: 4, special: ['[CLS]'] });
  assert.deepEqual(plain.region, { left: 0, top: 0, width: 61, height: 47 });
  assert.equal(answer('--top-k', '2').scores.length, 2);
  const expected = expectedOf(vit).pictures.find(({ size }) => size);
  const larger = answer('--size', expected.size.join(','));
  assert.equal(larger.label, expected.label);
  assert.deepEqual(larger.grid.rows, expected.size[0] / 4);
  const { encoder } = answer('--attention').attention;
  assert.deepEqual([encoder.layers, encoder.heads, encoder.queries], [2, 3, 17]);
  assert.notDeepEqual(answer('--ablate', '1.2').scores, plain.scores);
  assert.notDeepEqual(answer('--mask-tokens', '3,4').scores, plain.scores);
});

test('a file that cannot be read is an error in its place', () => {
  const broken = join(scratch, 'broken.png');
  writeFileSync(broken, readFileSync(file('rgb8.png')).subarray(0, 60));
  const text = join(scratch, 'text.txt');
  writeFileSync(text, 'no picture');
  const empty = join(scratch, 'empty.jpg');
  writeFileSync(empty, '');
  const paths = [file('rgb8.png'), broken, text, join(scratch, 'none'), empty, file('gray8.png')];
  const { status, lines, stderr } = glassformer(['image', vit, ...paths]);
  assert.equal(status, 1);
  assert.equal(lines.length, paths.length);
  assert.deepEqual(lines.slice(1, 5), [
    'error\tinvalid_picture',
    'error\tunsupported',
    'error\tmissing_file',
    'error\tempty_input',
  ]);
  assert.match(stderr, /broken\.png: picture: broken PNG file/);
  const json = glassformer(['image', vit, '--json', text]);
  assert.equal(JSON.parse(json.lines[0]).error.code, 'unsupported');
});

test('wrong options and other models are refused', () => {
  const refused = (status, pattern, ...args) => {
    const result = glassformer(args, 'a\n');
    assert.equal(result.status, status, result.stderr);
    assert.match(result.stderr, pattern);
  };
  refused(2, /FILE/, 'image', vit);
  refused(1, /ablate/, 'image', vit, file('rgb8.png'), '--ablate', '7.0');
  refused(
    1,
    /wrong_task/,
    'image',
    join(root, 'tests/fixtures/checkpoints/bert_sequence'),
    file('rgb8.png'),
  );
  refused(1, /wrong_task/, 'classify', vit);
  refused(1, /wrong_task/, 'embed', vit);
  refused(1, /tokenizer/, 'tokenize', vit);
});

test('explain says why a picture matches one of the labels', () => {
  const clip = join(pictures, 'clip/clip');
  const expected = expectedOf(clip);
  const labels = expected.labels.flatMap((label) => ['--labels', label]);
  const path = `${file('rgb8.png')}\n`;
  const explained = (method, ...more) =>
    glassformer(['explain', clip, '--method', method, '--compute', 'f32', ...more], path);
  const explain = (method, ...more) => {
    const { status, lines, stderr } = explained(method, ...labels, ...more, '--json');
    assert.equal(status, 0, stderr);
    return JSON.parse(lines[0]);
  };
  const lens = explain('lens');
  assert.equal(lens.layers.at(-1).label, expected.pictures[0].label);
  assert.deepEqual(lens.tokenLogits.shape, [3, 17, expected.labels.length]);
  assert.equal(explain('relevance').scores.length, 17);
  const attribution = explain(
    'direct_logit_attribution',
    '--label',
    expected.labels[2],
    '--hypothesis-template',
    '{}',
  );
  assert.equal(attribution.label, expected.labels[2]);
  assert.match(
    explained('direct_logit_attribution', ...labels).lines[0],
    /^value=.*\tembed_patches=.*\tbias=/,
  );
  const refused = (status, message, ...options) => {
    const result = explained(...options);
    assert.equal(result.status, status);
    assert.match(result.stderr, message);
  };
  refused(1, /labels: expected at least one/, 'lens');
  refused(1, /labels: expected at least one/, 'lens', '--hypothesis-template', '{}');
  refused(1, /label: expected one of/, 'direct_logit_attribution', '--labels', 'a', '--label', 'b');
});

test('explain and trace read the paths of pictures, one per line', () => {
  const explain = glassformer(
    ['explain', vit, '--method', 'rollout'],
    `${file('rgb8.png')}\n${file('none.png')}\n`,
  );
  assert.equal(explain.status, 1);
  assert.equal(explain.lines.length, 2);
  assert.match(explain.lines[0], /^\[CLS\]=\d\.\d+\t0,0=\d\.\d+\t.*\t3,3=\d\.\d+$/);
  assert.equal(explain.lines[1], 'error\tmissing_file');
  const lens = glassformer(['explain', vit, '--method', 'lens', '--json'], `${file('rgb8.png')}\n`);
  const { layers, grid, tokenLogits } = JSON.parse(lens.lines[0]);
  assert.equal(layers.length, 3);
  assert.deepEqual(tokenLogits.shape, [3, 17, 5]);
  assert.equal(grid.columns, 4);

  const out = join(scratch, 'trace.safetensors');
  const names = 'encoder.embed_patches,encoder.layers.*.output,logits';
  const trace = glassformer(['trace', vit, '--names', names, '--out', out], file('rgb8.png'));
  assert.equal(trace.status, 0, trace.stderr);
  const header = readFileSync(out);
  const parsed = JSON.parse(header.subarray(8, 8 + Number(header.readBigUInt64LE(0))).toString());
  assert.deepEqual(parsed['encoder.embed_patches'].shape, [17, 24]);
  const patched = glassformer(['image', vit, file('rgb8.png'), '--patch', out]);
  assert.equal(patched.stdout, glassformer(['image', vit, file('rgb8.png')]).stdout);
  const gradients = glassformer(
    ['trace', vit, '--names', 'encoder.embeddings', '--gradients', '--out', `${out}.2`],
    file('rgb8.png'),
  );
  assert.equal(gradients.status, 0, gradients.stderr);
});

test('bench and init know pictures', () => {
  const { status, stdout } = glassformer(['bench', vit, '--json']);
  assert.equal(status, 0);
  assert.equal(JSON.parse(stdout)[0].tokens, 17);
  const made = join(scratch, 'made');
  const config = join(scratch, 'vit_wide/config.json');
  const init = glassformer(['init', config, made, '--seed', '3']);
  assert.equal(init.status, 0, init.stderr);
  assert.equal(glassformer(['image', made, file('rgb8.png')]).status, 0);
});
