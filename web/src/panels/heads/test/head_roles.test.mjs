// Reading a heads.json, the roles of heads, and orders by them.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { models } from '../../../../../tools/models.mjs';
import { root } from '../../../../../tools/build.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { inOrder, matters, ordersOf, roleOf, rolesOf } = await source('panels/heads/head-roles');
const { measuredIn } = await source('panels/heads/measured/heads-file');

const evenly = { previous: 0.1, same: 0.1, next: 0.1, first: 0.1, last: 0.1, punctuation: 0.2 };
const head = (layer, at, share, more = {}) => ({
  ...{ attention: 'encoder', layer, head: at, entropy: 0.5 },
  ...{ share: { ...evenly, ...share }, even: evenly },
  zero: { mean: 0, low: -1, high: 1 },
  ...more,
});
const read = (heads) => measuredIn({ texts: 3, compute: 'f32', heads }).heads;

test('a role is the set that exceeds even attention most, by at least 15 points', () => {
  const heads = [
    [{ previous: 0.8, same: 0.2 }, {}, 'previous'],
    [{ next: 0.24 }, {}, 'other'],
    [{ next: 0.24 }, { entropy: 0.8 }, 'broad'],
    [{ punctuation: 0.34, first: 0.26 }, { entropy: 0.9 }, 'first'],
    [{ sameWord: 0.3 }, {}, 'sameWord'],
  ];
  const all = read(heads.map(([share, more], i) => head(0, i, share, more)));
  assert.deepEqual(
    all.map(roleOf),
    heads.map(([, , role]) => role),
  );
});

test('a set that all heads have in common is no role', () => {
  const all = (shares) => read(shares.map((share, i) => head(0, i, share)));
  const again = { sameWord: 0.8 };
  assert.deepEqual(rolesOf(all([again, again, { ...again, first: 0.4 }])), [
    'other',
    'other',
    'first',
  ]);
  assert.deepEqual(rolesOf(all([again, { first: 0.4 }])), ['sameWord', 'first']);
  assert.deepEqual(rolesOf(all([again, again])), [undefined, undefined]);
  assert.deepEqual(
    rolesOf(
      all([
        { ...again, first: 0.5 },
        { ...again, first: 0.4 },
      ]),
    ),
    [undefined, undefined],
  );
  assert.deepEqual(rolesOf([]), []);
});

test('of equal shares, the first in the list counts: an end token before the last word', () => {
  const even = { specials: 0.1, last: 0.1 };
  const own = { attention: 'cross', layer: 0, head: 0, entropy: 0.2, even };
  const zero = { mean: 0, low: 0, high: 0 };
  const [one] = read([{ ...own, share: { last: 0.6, specials: 0.6 }, zero }]);
  assert.equal(roleOf(one), 'specials');
  assert.deepEqual(ordersOf([one]), ['layer', 'lost', 'entropy', 'specials', 'last']);
  assert.deepEqual(ordersOf([]), ['layer']);
});

test('heads are sorted by a share, by entropy and by the loss; equal heads keep their order', () => {
  const lost = (mean, low, high) => ({ zero: { mean, low, high } });
  const heads = read([
    head(0, 0, { first: 0.2 }, { entropy: 0.9, ...lost(-0.1, -0.2, -0.05) }),
    head(0, 1, { first: 0.5 }, { entropy: 0.1, ...lost(0.3, 0.2, 0.4) }),
    head(1, 0, { first: 0.5 }, { entropy: 0.05, ...lost(0.1, -0.1, 0.3) }),
  ]);
  const names = (order) => inOrder(heads, order).map((each) => `${each.layer}.${each.head}`);
  assert.deepEqual(names('first'), ['0.1', '1.0', '0.0']);
  assert.deepEqual(names('entropy'), ['1.0', '0.1', '0.0']);
  assert.deepEqual(names('lost'), ['0.1', '1.0', '0.0']);
  assert.deepEqual(heads.map(matters), [true, true, false]);
});

test('a malformed heads.json is undefined, and a malformed head is skipped', () => {
  for (const json of [null, 5, [], {}, { texts: 3 }, { texts: 3, heads: [] }, { heads: [1] }])
    assert.equal(measuredIn(json), undefined, JSON.stringify(json));
  const good = head(0, 0, {}, { accuracyLost: 2.5 });
  const all = read([good, { ...good, layer: '0' }, { ...good, zero: { mean: 1 } }, null, 'x']);
  assert.equal(all.length, 1);
  assert.deepEqual(all[0].scoreLost, { name: 'accuracy', points: 2.5 });
  assert.equal(read([{ ...good, attention: 'elsewhere' }, good]).length, 1);
});

for (const name of models) {
  const path = join(root, 'weights', name, 'heads.json');
  test(`every number of weights/${name}/heads.json is read`, { skip: !existsSync(path) }, () => {
    const json = JSON.parse(readFileSync(path, 'utf8'));
    const measured = measuredIn(json);
    assert.equal(measured.texts, json.texts);
    assert.equal(measured.heads.length, json.heads.length);
    for (const [i, each] of measured.heads.entries()) {
      assert.deepEqual({ ...each.share }, { ...json.heads[i].share });
      assert.equal(each.lost.mean, json.heads[i].zero.mean);
    }
  });
}
