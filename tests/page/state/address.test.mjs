// The contents of links, and how damaged links are read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../source.mjs';

const { embedded, hashFor, isEmbedded, linkAt, linkIn, longestText, viewIn } = await source(
  'app/address',
  'ui/link',
);
const { embedCode } = await source('ui/embed-code');
const { pack, unpack, longestPacked } = await source('app/packed-text');
const { fromSentimentLink, toSentimentLink } = await source('views/sentiment/link');
const { fromTranslationLink, toTranslationLink } = await source('views/translation/link');

test('a link survives the way through its address', () => {
  const link = { text: 'a & b = “c”, #d\n🙂', head: '1.2' };
  assert.deepEqual(linkIn(hashFor('other', link)), link);
  assert.equal(viewIn(hashFor('other', link)), 'other');
  assert.equal(viewIn(hashFor(undefined, link)), undefined);
  assert.deepEqual(linkIn(''), {});
  assert.equal(hashFor(undefined, {}), '');
});

test('an embedded view has its own kind of address, which leads to the same view', () => {
  const link = { text: 'a & "b"', head: '1.2' };
  for (const [view, own] of [
    ['other', link],
    [undefined, link],
    [undefined, {}],
  ]) {
    const hash = embedded(hashFor(view, own));
    assert.equal(isEmbedded(hash), true);
    assert.deepEqual([linkIn(hash), viewIn(hash)], [own, view]);
    assert.equal(isEmbedded(hashFor(view, own)), false);
  }
  const code = embedCode('https://example.org/#embed=1&text=a"b', 'a <b>');
  assert.match(code, /^<iframe\n {2}src="https:\/\/example.org\/#embed=1&#38;text=a&#34;b"\n/);
  assert.match(code, /title="Glassformer: a &#60;b&#62;"/);
});

test('a long text is packed in the address, or left out', async () => {
  const text = 'Neither good nor bad. '.repeat(1000);
  assert.ok(text.length > longestText);
  const link = { text, head: '0.0' };
  const packed = await pack(text);
  const hash = hashFor('other', link, packed);
  assert.ok(hash.length < 1000, `${hash.length}`);
  assert.deepEqual(await linkAt(hash), link);
  assert.deepEqual(await linkAt(hashFor('other', link)), { head: '0.0' });
});

test('any text can be packed and unpacked', async () => {
  for (const text of ['', 'x', 'früh 🙂 电影\u0000', 'ab'.repeat(100_000)])
    assert.equal(await unpack(await pack(text)), text);
  assert.match(await pack('früh 🙂 电影 '.repeat(50)), /^[\w-]*$/);
});

test('a text that does not fit, or is not packed text, is refused', async () => {
  let state = 1;
  const noise = Array.from({ length: 2 * longestPacked }, () => {
    state = (state * 48271) % 2147483647;
    return String.fromCharCode(33 + (state % 90));
  }).join('');
  assert.equal(await pack(noise), undefined);
  for (const damaged of ['x', '????', 'AAAA', (await pack('some text')).slice(0, -4)])
    assert.equal(await unpack(damaged), undefined, damaged);
  const bomb = await pack(' '.repeat(3_000_000));
  assert.ok(bomb.length < longestPacked);
  assert.equal(await unpack(bomb), undefined);
});

test('the sentiment view survives the way through its link', () => {
  const state = {
    text: 'good',
    head: { layer: 3, head: 2 },
    off: [{ layer: 0, head: 7 }],
    hidden: [0, 4],
    parts: ['methods', 'ledger'],
  };
  assert.deepEqual(fromSentimentLink(toSentimentLink(state)), state);
});

test('the translation view survives the way through its link', () => {
  const state = {
    target: 'fr',
    text: 'One. Two.',
    beams: 2,
    sentence: 1,
    forced: [[], [7, 12]],
    hidden: [[], [1]],
    attention: 'decoder',
    head: { layer: 1, head: 3 },
    off: [{ attention: 'cross', layer: 0, head: 1 }],
  };
  assert.deepEqual(fromTranslationLink(toTranslationLink(state)), state);
});

test('the valid parts of a damaged link are used', () => {
  const damaged = {
    text: 'a',
    head: '1',
    off: '0.1,x,7.7.7,2.3',
    hide: '5,-1,0.5,12345678',
    part: 'x,circuits',
  };
  assert.deepEqual(fromSentimentLink(damaged), {
    text: 'a',
    hidden: [5],
    off: [
      { layer: 0, head: 1 },
      { layer: 2, head: 3 },
    ],
    parts: ['circuits'],
  });
  assert.deepEqual(
    fromTranslationLink({ to: 'xx', beams: 'many', head: 'other.1.1', off: 'cross.1.1,cross.1' }),
    { off: [{ attention: 'cross', layer: 1, head: 1 }] },
  );
});

test('hidden tokens and a chosen sentence are ignored without their text', () => {
  assert.deepEqual(fromSentimentLink({ hide: '1' }), { off: [], parts: [] });
  assert.deepEqual(fromTranslationLink({ sentence: '3' }), { off: [] });
});
