// The writing view's sampling, its links and its code.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { candidatesOf, drawn, isPartial, shownCandidate } = await source('panels/words/sampling');
const { fromWritingLink, toWritingLink } = await source('views/writing/link');
const { lastCell } = await source('panels/attention/attention');
const { writeCode } = await source('views/writing/code');
const { jsonText, predictionJson } = await source('panels/attention/files/result-json');

const next = [0.5, 0.25, 0.125, 0.125].map((probability, id) => ({
  id,
  text: ` ${id}`,
  logprob: Math.log(probability),
}));
const chances = (sampling) =>
  candidatesOf(next, { temperature: 1, topK: 0, topP: 1, ...sampling }).map(({ chance }) =>
    Number(chance.toFixed(6)),
  );

test('temperature sharpens or flattens; 0 takes only the best token', () => {
  assert.deepEqual(chances({}), [0.5, 0.25, 0.125, 0.125]);
  const squares = [0.25, 0.0625, 0.015625, 0.015625];
  const total = squares.reduce((a, b) => a + b);
  assert.deepEqual(
    chances({ temperature: 0.5 }),
    squares.map((value) => Number((value / total).toFixed(6))),
  );
  assert.ok(chances({ temperature: 2 })[0] < 0.5);
  assert.deepEqual(chances({ temperature: 0, topP: 0.01 }), [1, 0, 0, 0]);
});

test('top-k and top-p leave out tokens and renormalize the others', () => {
  assert.deepEqual(chances({ topK: 2 }), [0.666667, 0.333333, 0, 0]);
  // Equal probabilities stay together.
  assert.deepEqual(chances({ topK: 3 }), [0.5, 0.25, 0.125, 0.125]);
  assert.deepEqual(chances({ topP: 0.5 }), [1, 0, 0, 0]);
  assert.deepEqual(chances({ topP: 0.51 }), [0.666667, 0.333333, 0, 0]);
  assert.deepEqual(chances({ topP: 0.001 }), [1, 0, 0, 0]);
  // top-p applies to the tokens that top-k keeps.
  assert.deepEqual(chances({ topK: 2, topP: 0.66 }), [1, 0, 0, 0]);
  // The model's own probability doesn't depend on the settings.
  const all = candidatesOf(next, { temperature: 0.3, topK: 1, topP: 0.5 });
  assert.deepEqual(
    all.map(({ probability }) => Number(probability.toFixed(6))),
    [0.5, 0.25, 0.125, 0.125],
  );
});

test('a token is drawn in proportion to its chance', () => {
  const all = candidatesOf(next, { temperature: 1, topK: 2, topP: 1 });
  const drawnAt = (at) => drawn(all, at)?.id;
  assert.deepEqual([0, 0.66, 0.67, 0.99, 1].map(drawnAt), [0, 0, 1, 1, 1]);
  assert.equal(drawn([], 0.5), undefined);
});

test('a token is shown with the word that it continues', () => {
  assert.deepEqual(shownCandidate('ing', 'a film about act'), { tail: 'act', own: 'ing' });
  assert.deepEqual(shownCandidate(' good', 'a film'), { tail: '', own: 'good' });
  assert.deepEqual(shownCandidate('s', 'un' + 'believable'), { tail: 'lievable', own: 's' });
  assert.deepEqual(shownCandidate('\n\n', 'end.'), { tail: '', own: '↵↵' });
  assert.deepEqual(shownCandidate(' ', 'end.'), { tail: '', own: '␣' });
  assert.ok(isPartial('<0xE2>') && isPartial(' <0xE2>') && !isPartial(' 0xE2'));
});

test('a link restores the writing view', () => {
  const state = {
    text: 'This film is good',
    typed: 9,
    cursor: 12,
    temperature: 1.25,
    topK: 50,
    topP: 0.9,
    head: { layer: 3, head: 2 },
    off: [{ layer: 0, head: 1 }],
  };
  assert.deepEqual(fromWritingLink(toWritingLink(state)), state);
  const plain = { ...state, typed: 17, cursor: 17, topK: 0, topP: 1, off: [] };
  assert.deepEqual(fromWritingLink(toWritingLink(plain)), plain);
});

test('valid parts of a damaged link are used', () => {
  assert.deepEqual(
    fromWritingLink({ text: 'abc', typed: '99', at: '-1', temperature: '7', head: 'x', off: '1' }),
    { text: 'abc', typed: 3, cursor: 3, off: [] },
  );
  assert.deepEqual(fromWritingLink({ typed: '2', at: '1' }), { off: [] });
  assert.equal(fromWritingLink({ temperature: '0.5', p: '0' }).topP, 1);
});

test('the last step’s row is selected first', () => {
  const weights = Float32Array.from([1, 0, 0, 0.5, 0.5, 0, 0.2, 0.5, 0.3]);
  assert.deepEqual(lastCell({ weights, queries: 3, keys: 3 }), { query: 2, key: 1 });
});

test('the code and the JSON have the shown state', () => {
  const sampling = { temperature: 0.8, topK: 5, topP: 1 };
  const off = [{ attention: 'decoder', layer: 1, head: 2 }];
  const code = writeCode('a "b"', sampling, off);
  assert.match(code, /temperature: 0.8, topK: 5, topP: 1, .*layer: 1, head: 2/);
  assert.ok(code.includes(JSON.stringify('a "b"')));
  assert.match(writeCode('a', { ...sampling, temperature: 0 }, []), /sample: false/);
  const map = { layers: 1, heads: 1, queries: 1, keys: 1, data: Float32Array.of(1) };
  const json = JSON.parse(
    jsonText(predictionJson('a', { next, attention: { decoder: map } }, off)),
  );
  assert.equal(json.next.length, 4);
  assert.equal(json.attention.decoder.data, 'AACAPw==');
});
