// `glassformer explain`, with the shipped models.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { glassformer, root } from './run.mjs';

const sentiment = join(root, 'weights/sentiment');

function explain(method, input, ...more) {
  return glassformer(['explain', sentiment, '--method', method, ...more], input);
}

function explainJson(method, input, ...more) {
  const { status, lines, stderr } = explain(method, input, '--json', ...more);
  assert.equal(status, 0, stderr);
  assert.equal(lines.length, 1);
  return JSON.parse(lines[0]);
}

function floats({ shape, data }) {
  const bytes = Buffer.from(data, 'base64');
  const values = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
  assert.equal(
    values.length,
    shape.reduce((product, extent) => product * extent, 1),
  );
  return values;
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

test('every method answers line by line, with errors in their places', () => {
  const methods = [
    'rollout',
    'value_norms',
    'value_zeroing',
    'lens',
    'direct_logit_attribution',
    'faithfulness',
  ];
  for (const method of [...methods, 'circuit']) {
    const { status, lines } = explain(
      method,
      'A gripping film.\n\nDreadful acting.\n',
      ...['--compute', 'f32'],
    );
    assert.equal(status, 1, method);
    assert.equal(lines.length, 3, method);
    assert.match(lines[0], /=-?\d+\.\d{6}/, method);
    assert.equal(lines[1], 'error\tempty_input', method);
  }
});

test('the rollout of a translation is a line of tokens with their shares of the source', () => {
  const translator = join(root, 'weights/en-de');
  const { status, lines, stderr } = glassformer(
    ['explain', translator, '--method', 'rollout'],
    'A good film.\n',
  );
  assert.equal(status, 0, stderr);
  assert.equal(lines.length, 1);
  for (const field of lines[0].split('\t')) {
    const [, share] = /^.+=(\d\.\d{6})$/.exec(field);
    assert.ok(share > 0 && share < 1, field);
  }
});

test('the direct logit attribution of the shipped model adds up to its log-odds, in floats and in integers', () => {
  for (const compute of ['f32', 'int8']) {
    const attribution = explainJson(
      'direct_logit_attribution',
      'The plot is not good.\n',
      '--compute',
      compute,
    );
    for (const view of ['written', 'read']) {
      const error = Math.abs(sum(floats(attribution[view])) - attribution.value);
      assert.ok(
        error <= 1e-4 * Math.max(1, Math.abs(attribution.value)),
        `${compute} ${view}: ${error}`,
      );
    }
    assert.equal(attribution.columns.includes('rounding'), compute === 'int8');
    assert.equal(attribution.columns.length, 2 + 4 * (8 + 1) + 1 + (compute === 'int8' ? 1 : 0));
  }
});

test('"not" is what makes the shipped model call a good plot bad', () => {
  const line = 'The plot is not good.\tThe plot is good.\n';
  const table = explainJson('activation_patching', line, '--compute', 'f32');
  assert.equal(table.label, 'negative');
  const delta = floats(table.delta);
  const not = table.cells.findIndex(({ unpaired }) => unpaired);
  assert.equal(table.tokens[table.cells[not].tokens[0]].text, ' not');
  // Without the token before layer 0, the other text is left, whose tokens have the same positions.
  assert.ok(Math.abs(table.base + delta[not] - table.donor) < 1e-3);
  assert.ok(table.base > 0 && table.donor < 0);
  // Patched before layer 0, a token that both texts have changes nothing.
  const paired = table.cells.map((_, cell) => cell).filter((cell) => cell !== not);
  for (const cell of paired) assert.equal(delta[cell], 0);
});

test('two texts to continue or to translate give their two next tokens, then a row per layer', () => {
  for (const [name, rows, line, words] of [
    ['writer', 6, 'This film is\tThe problem is', /^that\ta\t/],
    ['en-de', 7, 'My brother is a doctor.\tMy sister is a doctor.', /^Meine\tMein\t/],
  ]) {
    const { status, lines, stderr } = glassformer(
      ['explain', join(root, 'weights', name), '--method', 'activation_patching'],
      `${line}\nOnly one.\n`,
    );
    assert.equal(status, 1, stderr);
    assert.match(lines[0], words);
    const effects = lines[0].split('\t').slice(2);
    assert.equal(effects.length, rows);
    for (const row of effects) assert.match(row, /^(-?\d+\.\d{6} ?)+$/);
    assert.match(lines[1], /^error\tinvalid_option/);
  }
});

test('circuits and cut edges need floats', () => {
  const edges = ['--edges', '0.0.1.2,3.7.0.0'];
  const input = 'A gripping film.\n';
  const cut = explainJson('edges', input, ...edges, '--compute', 'f32');
  assert.equal(cut.alone.length, 2);
  assert.notEqual(cut.value, cut.without);
  // With two labels, the evidence of one is the negative evidence of the other.
  assert.equal(cut.label, 'positive');
  const other = explainJson('edges', input, ...edges, '--compute', 'f32', '--label', 'negative');
  assert.equal(other.label, 'negative');
  assert.deepEqual([other.value, other.without], [-cut.value, -cut.without]);
  assert.equal(
    explain('edges', input, ...edges, '--compute', 'int8').lines[0],
    'error\tunsupported',
  );
  const circuit = explainJson('circuit', input, '--compute', 'f32', '--least', '0.5');
  assert.ok(circuit.faithfulness >= 0.5);
  assert.ok(circuit.edges.length < 4 * 8 * circuit.tokens.length ** 2);
});

test('wrong options are refused before any line', () => {
  assert.equal(glassformer(['explain', sentiment, '--method', 'magic']).status, 2);
  assert.equal(glassformer(['explain', sentiment]).status, 2);
  assert.equal(explain('edges', '', '--edges', '0.1').status, 2);
  const label = explain('direct_logit_attribution', '', '--label', 'fine');
  assert.equal(label.status, 1);
  assert.match(label.stderr, /label: expected one of negative, positive, got "fine"/);
  const translator = glassformer(['explain', join(root, 'weights/en-de'), '--method', 'edges']);
  assert.equal(translator.status, 1);
  assert.match(
    translator.stderr,
    /method: expected one of rollout, value_zeroing, lens, decoder_lens, direct_logit_attribution/,
  );
});

test('the direct logit attribution of one token of a translation', () => {
  const model = join(root, 'weights/en-de');
  const asked = [
    'explain',
    model,
    '--method',
    'direct_logit_attribution',
    '--position',
    '3',
    '--compute',
    'f32',
  ];
  const { status, lines, stderr } = glassformer(asked, 'The film is not good.\n');
  assert.equal(status, 0, stderr);
  const [value, ...parts] = lines[0].split('\t').map((field) => field.split('='));
  assert.equal(value[0], 'value');
  assert.ok(value[1] > 0);
  const columns = parts.map(([name]) => name);
  assert.equal(columns.length, 2 + 2 * (8 + 8 + 1) + 1);
  assert.ok(columns.includes('layers.1.encoder_attn.head.7'));
  assert.ok(Math.abs(sum(parts.map(([, part]) => Number(part))) - value[1]) < 1e-4);
  const json = glassformer([...asked, '--json', '--effects'], 'The film is not good.\n');
  const attribution = JSON.parse(json.lines[0]);
  assert.equal(attribution.tokens[3].id, attribution.token.id);
  assert.equal(attribution.effects.length, columns.length);
  // After a given prefix of tokens.
  const begun = attribution.tokens.slice(0, 2).map(({ id }) => id);
  const forced = glassformer(
    [...asked.slice(0, 4), '--prefix', begun.join(','), '--compute', 'f32', '--json'],
    'The film is not good.\n',
  );
  const after = JSON.parse(forced.lines[0]);
  assert.equal(after.position, 2);
  assert.equal(after.token.id, attribution.tokens[2].id);
  assert.deepEqual(
    after.tokens.map(({ id }) => id),
    [...begun, after.token.id],
  );
  const beyond = glassformer([...asked.slice(0, 4), '--sentence', '2'], 'The film.\n');
  assert.equal(beyond.status, 1);
  assert.match(beyond.stderr, /sentence: expected one of the text's sentences, below 1, got 2/);
});

test('the direct logit attribution of the shipped writer adds up to one token’s lead over another', () => {
  const model = join(root, 'weights/writer');
  const explained = (method, ...more) => {
    const args = ['explain', model, '--method', method, '--json', ...more];
    const { status, lines, stderr } = glassformer(
      args,
      'The acting is dreadful, so this film is\n',
    );
    assert.equal(status, 0, stderr);
    return JSON.parse(lines[0]);
  };
  for (const compute of ['f32', 'int8']) {
    const attribution = explained('direct_logit_attribution', '--compute', compute);
    assert.ok(attribution.value > 0);
    assert.ok(
      Math.abs(attribution.value - attribution.token.logprob + attribution.against.logprob) < 1e-4,
    );
    for (const view of ['written', 'read']) {
      const error = Math.abs(sum(floats(attribution[view])) - attribution.value);
      assert.ok(error <= 1e-4 * Math.max(1, attribution.value), `${compute} ${view}: ${error}`);
    }
    const [tokens, columns] = attribution.written.shape;
    assert.equal(tokens, attribution.tokens.length);
    assert.equal(columns, 2 + 5 * (4 + 1) + 1 + (compute === 'int8' ? 1 : 0));
  }
  const { token, against } = explained('direct_logit_attribution');
  const other = explained(
    'direct_logit_attribution',
    '--token',
    `${against.id}`,
    '--against',
    `${token.id}`,
  );
  assert.equal(other.token.text, against.text);
  assert.ok(other.value < 0);
  const lens = explained('lens', '--words', '2');
  assert.equal(lens.layers.length, 6);
  assert.equal(lens.layers[5].at(-1)[0].id, token.id);
  for (const method of ['rollout', 'value_norms'])
    assert.equal(explained(method).scores.length, explained(method).tokens.length);
});

test('lines together have one circuit, and may name the tokens to compare', () => {
  const explained = (model, lines, ...more) => {
    const args = ['explain', join(root, 'weights', model), '--method', 'circuit', '--together'];
    return glassformer([...args, '--compute', 'f32', '--json', ...more], `${lines.join('\n')}\n`);
  };
  const few = ['--random-circuits', '0'];
  const verdicts = ['This film is good.\tThis film is bad.', 'It was great.\tIt was awful.'];
  const { status, lines, stderr } = explained('sentiment', verdicts, ...few);
  assert.equal(status, 0, stderr);
  assert.equal(lines.length, 1);
  const found = JSON.parse(lines[0]);
  assert.equal(found.pairs.length, 2);
  assert.ok(Math.abs(found.value - (found.pairs[0].value + found.pairs[1].value) / 2) < 1e-4);
  const named = ['The actors in this film\tThe actor in this film\t are\t is'];
  const lead = JSON.parse(explained('writer', named, ...few).lines[0]);
  assert.deepEqual([lead.token.text, lead.against.text], [' are', ' is']);
  for (const [model, line, message] of [
    ['writer', 'one text', /line 1: expected two texts, or two texts and two tokens/],
    ['writer', 'a\tb\t are not\t is', /line 1: expected a text of one token, got 2/],
    ['sentiment', 'a\tb\tc\td', /line 1: expected tokens only for a model that writes/],
  ]) {
    const refused = explained(model, [line]);
    assert.notEqual(refused.status, 0);
    assert.match(refused.stderr, message);
  }
  const args = ['explain', join(root, 'weights/writer'), '--method', 'rollout', '--together'];
  assert.match(glassformer(args, 'a\tb\n').stderr, /--together: expected an option of rollout/);
});

test('a writer and a translator show the circuit between two texts', () => {
  const pairs = {
    'weights/writer': ['The actors in this film', 'The actor in this film'],
    'weights/en-de': ['The dog sleeps.', 'The cat sleeps.'],
  };
  for (const [folder, texts] of Object.entries(pairs)) {
    const explained = (line, ...more) => {
      const args = ['explain', join(root, folder), '--method', 'circuit', '--compute', 'f32'];
      return glassformer([...args, ...more], `${line}\n`);
    };
    const few = ['--random-circuits', '2'];
    const { status, lines, stderr } = explained(texts.join('\t'), '--json', ...few);
    assert.equal(status, 0, stderr);
    const found = JSON.parse(lines[0]);
    assert.ok(found.value > 0 && found.corrupt < 0);
    assert.ok(Math.abs(found.nothing - found.corrupt) < 1e-3);
    assert.ok(found.faithfulness >= 0.8 && found.area > found.randomArea);
    assert.deepEqual(found.scores.shape, [found.nodes.length, found.inputs.length]);
    const whole = found.curve.at(-1);
    assert.ok(Math.abs(whole.faithfulness - 1) < 1e-4 && found.edges.length < whole.edges / 10);
    // The line has the same edges.
    const shown = explained(texts.join('\t'), ...few).lines[0].split('\t');
    assert.equal(shown[3], `edges=${found.edges.length}`);
    for (const [i, { from, to, score }] of found.edges.entries()) {
      const [name, number] = shown[4 + i].split('=');
      assert.equal(name, `${from} > ${to}`);
      assert.ok(Math.abs(Number(number) - score) < 1e-5);
    }
    // Without the strongest edge, about as much is lost as its score says.
    const [{ from, to, score }] = found.edges;
    const cut = explained(texts.join('\t'), '--json', '--cut-edges', `${from}>${to}`);
    const { kept, edges } = JSON.parse(cut.lines[0]);
    assert.deepEqual(edges, []);
    assert.ok(Math.abs((kept - found.value) / score - 1) < 0.25, `${kept - found.value} ${score}`);

    const refused = (message, line, ...more) => {
      const answer = explained(line, ...more);
      assert.ok(answer.status > 0);
      assert.match(answer.stderr, message);
    };
    refused(/expected two texts with a tab/, texts[0]);
    refused(
      /as many tokens as the clean one, \d+, got \d+/,
      `${texts[0]}\t${texts[1].replace('The', 'The very big')}`,
    );
    refused(/two texts with different answers/, `${texts[0]}\t${texts[0]}`);
    refused(
      /cut_edges: .*FROM>TO.*nothing>logits/,
      texts.join('\t'),
      '--cut-edges',
      'nothing>logits',
    );
    refused(/edge_count: expected 1 to \d+, got 99999/, texts.join('\t'), '--edge-count', '99999');
    refused(/--metric/, texts.join('\t'), '--metric', 'best');
  }
});

test('a writer, a translator and an answering model explain a next token by gradients', () => {
  const models = {
    'weights/writer': { text: 'The acting is dreadful, so this film is', place: [] },
    'weights/en-de': { text: 'The film is not good.', place: ['--position', '3'] },
    'tests/fixtures/checkpoints/t5': { text: 'Where is it?', place: ['--position', '1'] },
  };
  for (const [folder, { text, place }] of Object.entries(models)) {
    const explained = (method, ...more) => {
      const args = ['explain', join(root, folder), '--compute', 'f32', '--method', method];
      const { status, lines, stderr } = glassformer([...args, ...place, ...more], `${text}\n`);
      assert.equal(status, 0, `${folder} ${stderr}`);
      return lines[0];
    };
    const methods = ['gradient_times_input', 'integrated_gradients', 'relevance'];
    for (const method of [...methods, 'attn_lrp', 'cp_lrp']) {
      const { tokens, sourceTokens, scores, token, against, ...rest } = JSON.parse(
        explained(method, '--json'),
      );
      const rows =
        place.length === 0
          ? tokens.length
          : rest.position + 1 + (sourceTokens ? sourceTokens.length : tokens.length);
      assert.equal(scores.length, rows, method);
      assert.notEqual(token.id, against.id);
      const extra = { integrated_gradients: 2, attn_lrp: 1, cp_lrp: 1 }[method] ?? 0; // value and gap
      if (extra > 1 && !folder.endsWith('t5')) continue; // many runs of a large model
      const shown = explained(method).split('\t');
      assert.equal(shown.length, rows + extra);
      for (const [i, field] of shown.slice(extra).entries())
        assert.ok(Math.abs(Number(field.split('=').at(-1)) - scores[i]) < 1e-5, field);
      if (method !== 'integrated_gradients') continue;
      const { value, baseline, gap } = rest;
      assert.ok(Math.abs(value - baseline - gap - sum(scores)) < 1e-3);
      const from = JSON.parse(explained(method, '--json', '--baseline-token', '5'));
      assert.ok(Math.abs(from.value - value) < 1e-4 && from.baseline !== baseline);
    }
    const lengths = explained('gradients', '--names', '*.embed_tokens', '*.layers.0.input');
    assert.match(lengths, /^(\w+\.(embed_tokens|layers\.0\.input)=\d+\.\d+(\t|$))+$/);
    const { gradients } = JSON.parse(explained('gradients', '--json', '--names', '*.embed_tokens'));
    assert.deepEqual(
      Object.keys(gradients).sort(),
      place.length === 0
        ? ['decoder.embed_tokens']
        : ['decoder.embed_tokens', 'encoder.embed_tokens'],
    );
  }
});

test('options of gradients of a next token are refused by name', () => {
  const refused = (model, pattern, ...more) => {
    const args = ['explain', join(root, model), '--compute', 'f32', ...more];
    const { status, stderr } = glassformer(args, 'A film\n');
    assert.equal(status, 1);
    assert.match(stderr, pattern);
  };
  const writer = 'weights/writer';
  refused(writer, /names: expected names/, '--method', 'gradients');
  refused(writer, /no\.such/, '--method', 'gradients', '--names', 'no.such');
  refused(writer, /names/, '--method', 'relevance', '--names', 'logits');
  refused(writer, /effects/, '--method', 'relevance', '--effects');
  refused(writer, /label/, '--method', 'relevance', '--label', 'good');
  refused(writer, /position.*with an encoder/, '--method', 'relevance', '--position', '1');
  refused(writer, /--baseline-token.*relevance/, '--method', 'relevance', '--baseline-token', '1');
  refused(
    'tests/fixtures/checkpoints/t5',
    /position.*got 99/,
    '--method',
    'relevance',
    '--position',
    '99',
  );
  refused('weights/sentiment', /got gradients, which is for other tasks/, '--method', 'gradients');
  refused('weights/sentiment', /names/, '--method', 'relevance', '--names', 'logits');
});

test('a method may stand after the command, and its help lists its options only', () => {
  const model = join(root, 'weights/sentiment');
  const text = 'A good film.\n';
  const short = glassformer(['explain', 'rollout', model], text);
  assert.deepEqual(short, glassformer(['explain', model, '--method', 'rollout'], text));
  assert.equal(short.status, 0);

  const { status, stdout } = glassformer(['explain', 'edges', '--help']);
  assert.equal(status, 0);
  assert.match(stdout, /^The number without some attention edges\./);
  const flags = [...stdout.matchAll(/^ +(?:-h,)?(--[\w-]+)/gm)].map(([, flag]) => flag);
  const ofPictures = ['--size', '--labels', '--hypothesis-template', '--interpolate'];
  assert.deepEqual(
    flags.toSorted(),
    ['--help', '--json', '--quiet', '--label', '--cut', '--edges', '--pairs', '--compute']
      .concat('--threads', ofPictures)
      .toSorted(),
  );
  const all = glassformer(['explain', '--help']).stdout;
  for (const name of ['direct_logit_attribution', 'circuit', 'gradients'])
    assert.match(all, new RegExp(`^  ${name}\\n      [A-Z].*[a-z,]$`, 'm'));
  assert.doesNotMatch(all, /--cut/);
});

test('options that a writer does not have are refused', () => {
  const refused = (model, pattern, ...more) => {
    const { status, stderr } = glassformer(['explain', join(root, model), ...more], 'A film\n');
    assert.equal(status, 1);
    assert.match(stderr, pattern);
  };
  refused(
    'weights/writer',
    /expected one of rollout, value_norms, value_zeroing, lens, direct_logit_attribution/,
    '--method',
    'edges',
  );
  refused(
    'weights/writer',
    /token: expected the id.*4096/,
    '--method',
    'direct_logit_attribution',
    '--token',
    '9999',
  );
  refused(
    'tests/fixtures/checkpoints/t5',
    /continues texts/,
    '--method',
    'direct_logit_attribution',
  );
  refused(
    'tests/fixtures/checkpoints/bert_tokens',
    /expected one of score, features for what this model computes/,
    '--method',
    'direct_logit_attribution',
  );
});

test('the translation from each layer of the encoder and the decoder', () => {
  const model = join(root, 'weights/en-de');
  const input = 'The house is small.\n';
  const translated = glassformer(['translate', model, '--beams', '1'], input).lines[0];
  for (const method of ['lens', 'decoder_lens']) {
    const { status, lines, stderr } = glassformer(['explain', model, '--method', method], input);
    assert.equal(status, 0, stderr);
    const readings = lines[0].split('\t');
    assert.ok(readings.length > 2);
    assert.equal(readings.at(-1), translated, method);
    // From a decoder's embeddings, the lens reads the input tokens, one row earlier.
    if (method === 'decoder_lens') assert.notEqual(readings[0], translated);
  }
});
