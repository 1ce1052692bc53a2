// Activation patching for what a model writes next: each cell is compared with a call with the same
// patches, and the estimates with gradients.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Generator, Translator, assertError, load, root } from '../support/helpers.mjs';

/** The runs are the same; only the gradients and the numbers’ differences are rounded. */
const tolerance = 1e-5;
const method = 'activation_patching';
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, not ${expected}`);

/** Returns rows of a traced matrix, as the value of a patch. */
function rowsOf({ shape, data }, rows) {
  const value = new Float32Array(rows.length * shape[1]);
  rows.forEach((row, i) =>
    value.set(data.subarray(row * shape[1], (row + 1) * shape[1]), i * shape[1]),
  );
  return { shape: [rows.length, shape[1]], data: value };
}

/** A translator and a writer: `read` reads a text to its next token, after those of `prefix`. */
const kinds = {
  translation: {
    load: () => load(join(root, 'weights/en-de'), { compute: 'f32', explain: true }, Translator),
    stack: 'encoder',
    async read(model, text, prefix, asking) {
      const forced = { beams: 1, prefixes: [prefix], maxLength: prefix.length + 1 };
      return (await model.translate(text, { ...asking, ...forced })).sentences[0].trace;
    },
    /** The decoder reads the source from its encoder. */
    alsoHidden: ({ decoderLayers }) =>
      Array.from({ length: decoderLayers }, (_, i) => `decoder.layers.${i}.encoder_attn`),
    pairs: [
      ['My brother is a doctor.', 'My sister is a doctor.'],
      ['He is not my friend.', 'He is my friend.'],
    ],
  },
  writing: {
    load: () => load(join(root, 'weights/writer'), { compute: 'f32', explain: true }, Generator),
    stack: 'decoder',
    read: async (model, text, _, asking) => (await model.next(text, { ...asking, count: 1 })).trace,
    alsoHidden: () => [],
    pairs: [
      ['This film is', 'The problem is'],
      ['The film is neither funny', 'The film is funny'],
    ],
  },
};

/** Returns patches that give a text's tokens these positions. */
async function placed({ read, stack }, model, columns) {
  if (columns.every((column, i) => column === i)) return [];
  const name = `${stack}.embed_positions`;
  const { [name]: positions } = await read(model, 'a '.repeat(20), [], { trace: [name] });
  return [{ name, value: rowsOf(positions, columns) }];
}

/** Returns the numbers of a table, computed by single calls. */
async function expected(kind, model, [base, donor], table) {
  const { stack, read } = kind;
  const { layers } = model.info;
  const { token, against, prefix = [] } = table;
  const lead = async (text, patch) => {
    const { logits } = await read(model, text, prefix, { trace: ['logits'], patch });
    const row = logits.data.slice(-logits.shape[1]);
    return row[token.id] - row[against.id];
  };
  const streams = Array.from({ length: layers }, (_, layer) => `${stack}.layers.${layer}.input`);
  streams.push(`${stack}.layers.${layers - 1}.output`);
  const ofBase = await placed(kind, model, table.baseColumns);
  const ofDonor = await placed(kind, model, table.donorColumns);
  const there = await read(model, donor, prefix, { trace: streams, patch: ofDonor });
  const here = await lead(base, ofBase);
  const cells = [];
  for (const [row, name] of streams.entries()) {
    for (const { tokens, unpaired } of table.cells) {
      const [token] = tokens;
      const hidden = [
        ...streams.slice(row, layers).map((_, i) => `${stack}.layers.${row + i}.self_attn`),
        ...kind.alsoHidden(model.info),
      ].map((attention) => ({ name: `${attention}.scores`, keys: [token], value: -Infinity }));
      const carried = () => [
        { name, tokens: [token], value: rowsOf(there[name], [table.donorOf[token]]) },
      ];
      cells.push((await lead(base, [...ofBase, ...(unpaired ? hidden : carried())])) - here);
    }
  }
  return {
    cells,
    base: here,
    donor: await lead(donor, ofDonor),
    plainBase: await lead(base, []),
    plainDonor: await lead(donor, []),
  };
}

for (const [name, kind] of Object.entries(kinds)) {
  test(`${name}: each cell is a run with the donor’s vectors`, async () => {
    const model = await kind.load();
    for (const [text, pair] of kind.pairs) {
      const table = await model.explain({ text, pair }, { method });
      const [rows, cells] = table.delta.shape;
      assert.deepEqual([rows, cells], [model.info.layers + 1, table.tokens.length]);
      assert.equal(table.done, undefined);
      const numbers = await expected(kind, model, [text, pair], table);
      for (const number of ['base', 'donor', 'plainBase', 'plainDonor'])
        near(table[number], numbers[number], number);
      numbers.cells.forEach((delta, i) => near(table.delta.data[i], delta, `${text} ${i}`));
      assert.equal(table.donorTokens.at(-1).end, pair.length);
      const removed = table.cells.filter(({ unpaired }) => unpaired).length;
      assert.equal(removed, table.tokens.length - table.donorTokens.length);
      // The number of the second text is reached by the vectors that carry the difference.
      assert.ok(Math.max(...table.delta.data) > 0.5 * (table.donor - table.base));
    }
  });
}

test('tables come with estimates first, which are gradients times changes', async () => {
  const { load: loaded, read, pairs } = kinds.writing;
  const model = await loaded();
  const [text, pair] = pairs[0];
  const tables = [];
  const onProgress = (table) => tables.push(table);
  const table = await model.explain({ text, pair }, { method, onProgress });
  assert.deepEqual([tables[0].done, table.done], [0, undefined]);
  assert.ok(tables.at(-1).done > 0 && tables.at(-1).done < table.delta.data.length);
  const names = ['decoder.layers.2.input'];
  const { token, against } = table;
  const { gradients } = await model.explain(text, {
    ...{ method: 'gradients', names, token: token.id, against: against.id },
  });
  const [own, other] = await Promise.all(
    [text, pair].map(async (each) => (await read(model, each, [], { trace: names }))[names[0]]),
  );
  const [count, width] = own.shape;
  for (let i = 0; i < count; i++) {
    let estimate = 0;
    for (let c = i * width; c < (i + 1) * width; c++)
      estimate += gradients[names[0]].data[c] * (other.data[c] - own.data[c]);
    near(tables[0].delta.data[2 * count + i], estimate, `estimate ${i}`);
  }
});

test('the compared tokens can be chosen; without a difference, nothing is measured', async () => {
  const writer = await kinds.writing.load();
  const [text, pair] = kinds.writing.pairs[0];
  const usual = await writer.explain({ text, pair }, { method });
  const swapped = { token: usual.against.id, against: usual.token.id };
  const table = await writer.explain({ text, pair }, { method, ...swapped });
  assert.deepEqual([table.token.id, table.against.id], Object.values(swapped));
  near(table.base, -usual.base, 'base');
  const one = await writer.explain({ text, pair }, { method, token: usual.against.id });
  assert.notEqual(one.against.id, one.token.id);
  const same = await writer.explain({ text, pair: text }, { method });
  assert.deepEqual([same.token, same.against, same.done], [undefined, undefined, 0]);

  const translator = await kinds.translation.load();
  const [base, donor] = kinds.translation.pairs[0];
  const found = await translator.explain({ text: base, pair: donor }, { method });
  const begun = { prefix: [found.against.id] };
  const after = await translator.explain({ text: base, pair: donor }, { method, ...begun });
  assert.deepEqual(after.prefix, begun.prefix);
  assert.notDeepEqual(after.token, found.token);
  const refused = (given, options, pattern) =>
    assertError(() => translator.explain(given, { method, ...options }), 'invalid_option', pattern);
  await refused(base, {}, /pair: expected two texts, got one/);
  await refused({ text: base, pair: donor }, { sentence: 1 }, /sentence/);
  await refused({ text: base, pair: donor }, { token: 3, against: 3 }, /against/);
  await refused({ text: base, pair: donor }, { site: 'head' }, /site/);
  await refused({ text: base, pair: donor }, { prefix: [1e6] }, /prefix/);
  const lens = () => translator.explain({ text: base, pair: donor }, { method: 'lens' });
  await assertError(lens, 'invalid_option', /pair|two/);
});
