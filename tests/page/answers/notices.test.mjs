// The shipped models do what each example says: every notice is listed here, with the answers that
// make it true.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Classifier, Generator, Translator } from '../../../dist/index.js';
import { root } from '../../../tools/build.mjs';
import { source } from '../source.mjs';

const { candidatesOf, examples, fromTransplantLink } = await source(
  ...['panels/verdict/reviews', 'panels/words/sampling', 'views/transplant/link'],
);

const transplant = await source('views/transplant/examples');
const inside = await source('views/inside/examples');
const translation = await source('panels/alignment/examples');
const writing = await source('panels/words/examples');

const open = (kind, name, options = {}) =>
  kind.load(join(root, 'weights', name), { compute: 'f32', ...options });

const models = {};
before(async () => {
  models.sentiment = await open(Classifier, 'sentiment', { explain: true });
  for (const target of ['de', 'fr']) models[target] = await open(Translator, `en-${target}`);
  models.writer = await open(Generator, 'writer');
});
after(() => Object.values(models).forEach((model) => model.dispose()));

const odds = ({ scores }) => scores[1].logit - scores[0].logit;

/** The sentiment model's answers to a text, whole and without some of its words. */
async function readingOf(model, text) {
  const whole = await model.classify(text, { attention: true });
  const labels = whole.tokens.map(({ start, end }) => text.slice(start, end).trim());
  const tokensIn = (part) => {
    const start = text.indexOf(part);
    assert.ok(start >= 0, part);
    return whole.tokens.flatMap((token, i) =>
      token.start >= start && token.end <= start + part.length ? [i] : [],
    );
  };
  const without = (part) => model.classify(text, { maskTokens: tokensIn(part) });
  return {
    whole,
    labels,
    without,
    /** Returns how far the log-odds of positive drop without a part. */
    effectOf: async (part) => odds(whole) - odds(await without(part)),
    effects: () =>
      Promise.all(
        labels.map(
          async (_, i) => odds(whole) - odds(await model.classify(text, { maskTokens: [i] })),
        ),
      ),
    /** Returns the token that a token attends to most in a head. Counts from 1, like the page. */
    seenBy: (token, layer, head) =>
      seen(whole.attention.encoder, labels, labels, token, layer, head),
  };
}

function seen(map, queries, keys, query, layer, head) {
  const at = queries.indexOf(query);
  assert.ok(at >= 0, query);
  const row = map.at(layer - 1, head - 1).subarray(at * map.keys, (at + 1) * map.keys);
  return keys[row.indexOf(Math.max(...row))];
}

const inSentiment = [
  [
    '“gripping” and “beautifully” decide it. Neutral words matter, too: without “A” the model would be even more confident.',
    async ({ effectOf, effects, whole, labels }) => {
      const all = await effects();
      const order = all.map((_, i) => i).sort((a, b) => all[b] - all[a]);
      const best = order.slice(0, 2).map((i) => labels[i]);
      assert.deepEqual(best.sort(), ['beautifully', 'gripping']);
      assert.equal(whole.label, 'positive');
      assert.ok((await effectOf('A')) < -0.2);
    },
  ],
  [
    '“not” reverses “good”: hide “not”, and the verdict is positive. “never” by itself has little effect.',
    async ({ effectOf, whole, without }) => {
      assert.equal(whole.label, 'negative');
      assert.ok((await effectOf('good')) < -1);
      assert.equal((await without('not')).label, 'positive');
      assert.ok(Math.abs(await effectOf('never')) < 0.3);
    },
  ],
  [
    '“dreadful” outweighs both praises before the “but”: hide that one word, and the verdict is positive.',
    async ({ effectOf, whole, without }) => {
      assert.equal(whole.label, 'negative');
      assert.equal((await without('dreadful')).label, 'positive');
      const praise = (await effectOf('great')) + (await effectOf('lovely'));
      assert.ok(-(await effectOf('dreadful')) > praise + 0.5);
    },
  ],
  [
    '“Meh” is not in the vocabulary: the model reads “Me” and “h”, and only “h” is evidence for negative. So it is uncertain.',
    async ({ labels, effectOf, whole }) => {
      assert.deepEqual(labels, ['Me', 'h', '.']);
      assert.ok((await effectOf('Me')) > 0 && (await effectOf('h')) < -1);
      assert.equal(whole.label, 'negative');
      assert.ok(whole.score < 0.75);
    },
  ],
  [
    'No word here says “good” or “bad”. “Stopped” has the largest effect.',
    async ({ effects, labels }) => {
      const sizes = (await effects()).map(Math.abs);
      assert.equal(labels[sizes.indexOf(Math.max(...sizes))], 'Stopped');
    },
  ],
  [
    'The model is wrong: this is warm praise. “nowhere” and “stiff” have the largest negative effects, each larger than the positive effect of the whole last sentence.',
    async ({ effects, effectOf, labels, whole }, text) => {
      assert.equal(whole.label, 'negative');
      const all = await effects();
      const order = all.map((_, i) => i).sort((a, b) => all[a] - all[b]);
      assert.deepEqual(
        new Set(order.slice(0, 2).map((i) => labels[i])),
        new Set(['nowhere', 'stiff']),
      );
      const last = await effectOf(text.slice(text.indexOf('Forgive')));
      assert.ok(last > 0 && last < -all[order[1]]);
    },
  ],
];

/** A translation, the other finished ones of its search, and what each of its words attends to. */
async function renderingOf(model, text) {
  const result = await model.translate(text, { beams: 4, hypotheses: true, attention: true });
  const word = ({ start, end }, whole) => whole.slice(start, end);
  return {
    model,
    text: result.text,
    sentences: result.sentences,
    others: result.sentences.map(({ hypotheses }) => hypotheses.slice(1).map(({ text }) => text)),
    sourceOf: (target) => {
      const links = result.sentences
        .flatMap(({ alignment }) => alignment)
        .filter((link) => word(link.target, result.text) === target)
        .sort((a, b) => b.weight - a.weight);
      assert.ok(links.length > 0, target);
      return word(links[0].source, text);
    },
  };
}

const inTranslation = {
  de: [
    [
      '“is riding a bicycle” becomes two words, “fährt Fahrrad”. Point at each to see which words it attends to.',
      ({ text, sourceOf }) => {
        assert.match(text, / fährt Fahrrad\.$/);
        assert.equal(sourceOf('fährt'), 'riding');
        assert.equal(sourceOf('Fahrrad'), 'bicycle');
      },
    ],
    [
      '“verloren” goes to the end, as German requires. Point at it: it attends to “lost”.',
      ({ text, sourceOf }) => {
        assert.equal(text, 'Wir haben unseren Schlüssel verloren.');
        assert.equal(sourceOf('verloren'), 'lost');
      },
    ],
    [
      'The translation adds a comma, a subject and a modal verb that English omits: “, was ich sagen soll”.',
      ({ text }) => assert.equal(text, 'Ich weiß nicht, was ich sagen soll.'),
    ],
    [
      'With one beam, it forgets “seen” and says that he was there: choose 1 under “Beam search”. It considered “Ufer” (river bank) and dropped it: see the tree.',
      async ({ text, model, sentences, others }, input) => {
        assert.equal(text, 'Er wurde gestern auf der Bank gesehen.');
        const greedy = await model.translate(input, { beams: 1 });
        assert.equal(greedy.text, 'Er war gestern auf der Bank.');
        const shores = sentences[0].tree.filter((node) => node.text.trim() === 'Ufer');
        assert.ok(shores.length > 0);
        for (const other of [text, ...others[0]]) assert.doesNotMatch(other, /Ufer/);
      },
    ],
    [
      'The translation is wrong: “Arzt” is a man. A woman is “Ärztin”, and no other translation in the list says so, either.',
      ({ text, others }) => {
        assert.equal(text, 'Meine Schwester ist Arzt.');
        assert.ok(others[0].length > 0);
        assert.doesNotMatch(others.flat().join(), /Ärztin/);
      },
    ],
    [
      'It corrects hasty typing, including the capital and the comma, but adds no period: you typed none.',
      ({ text }) => assert.equal(text, 'Ich weiß nicht, was ich tun soll'),
    ],
    [
      'Each sentence is translated on its own, without the others. Choose one below to see its heads and its search.',
      apart,
    ],
  ],
  fr: [
    [
      'It translates “shirt” as “T-shirt”. “chemise”, a shirt with a collar, comes second in the list below.',
      ({ text, others }) => {
        assert.match(text, /T-shirt/);
        assert.match(others[0][0], /chemise/);
      },
    ],
    [
      'The color follows the noun and agrees with it: “robe noire”. The other translations in the list below get this wrong.',
      ({ text, others }) => {
        assert.match(text, /une robe noire/);
        assert.ok(others[0].length > 0);
        for (const other of others[0]) assert.doesNotMatch(other, /une robe noire\b/);
      },
    ],
    [
      '“don’t” becomes two words, “ne” and “pas”, with the verb between them. Point at “ne”.',
      ({ text, sourceOf }) => {
        assert.match(text, /ne sais pas/);
        assert.equal(sourceOf('ne'), "don't");
      },
    ],
    [
      'It chooses the financial bank, “banque”. It never considers “rive” (river bank).',
      ({ text, sentences }) => {
        assert.match(text, /banque/);
        for (const { text: piece } of sentences[0].tree) assert.notEqual(piece.trim(), 'rive');
      },
    ],
    [
      'Half of it is wrong: houses are feminine, “vieilles mais belles”. “belles” is right, “vieux” is not.',
      ({ text }) => assert.equal(text, 'Les maisons sont vieux mais belles.'),
    ],
    [
      'It corrects hasty typing, including the capital, but adds no period: you typed none.',
      ({ text }) => assert.equal(text, 'Je ne sais pas quoi faire'),
    ],
    [
      'For the weather, French says “Il fait froid”, not “Il est froid”. Choose sentence 2: the right one is in the list below, but not first.',
      (rendering) => {
        assert.match(rendering.text, / Il est froid\. /);
        assert.ok(rendering.others[1].includes('Il fait froid.'));
      },
    ],
  ],
};

async function apart({ model, text, sentences }, input) {
  assert.equal(sentences.length, 3);
  const alone = [];
  for (const { start, end } of sentences)
    alone.push((await model.translate(input.slice(start, end))).text);
  assert.equal(alone.join(' '), text);
}

/** The settings of the view. */
const usual = { temperature: 0.8, topK: 0, topP: 0.95 };

const inWriting = [
  [
    'Many words can follow “is”: even the first choice, “a”, is not likely. At a lower temperature, it is.',
    ({ next }) => {
      const [first] = candidatesOf(next, usual);
      assert.equal(first.text.trim(), 'a');
      assert.ok(first.chance < 0.35);
      const [cold] = candidatesOf(next, { ...usual, temperature: 0.3 });
      assert.ok(cold.id === first.id && cold.chance > 0.65);
    },
  ],
  [
    'The sentence may be complete: a period comes first, then a comma.',
    ({ first }) => assert.deepEqual(first(2), ['.', ',']),
  ],
  [
    '“so bad that” needs a clause: “I”, “it” and “they” come first.',
    ({ first }) => assert.deepEqual(first(3), ['I', 'it', 'they']),
  ],
  [
    'Set the temperature to 0 and press “To the end”: it repeats “The film is very well done” again and again.',
    async ({ model }, text) => {
      const written = await greedy(model, text);
      assert.match(written, /^ the film is very well done\./);
      assert.ok(written.match(/The film is very well done/g).length > 3);
    },
  ],
  [
    '“music” comes first again. At temperature 0, the model repeats it up to its length limit.',
    async ({ first, model }, text) => {
      assert.deepEqual(first(1), ['music']);
      assert.ok(/ music(, the music)+(, the|,)?$/.test(await greedy(model, text)));
    },
  ],
  [
    'After an opening quote, a sentence starts: “The” comes first, then other capital letters.',
    ({ first }) => {
      assert.equal(first(1)[0], 'The');
      for (const text of first(10)) assert.match(text, /^[A-Z]/);
    },
  ],
  [
    '“I” comes first: it starts a new clause and does not name another person who watched.',
    ({ first }) => assert.deepEqual(first(1), ['I']),
  ],
];

async function greedy(model, text) {
  const { maxSourceLength } = model.info;
  const { promptTokens } = await model.next(text, { count: 1 });
  const maxNewTokens = maxSourceLength - promptTokens.length;
  return (await model.generate(text, { sample: false, maxNewTokens })).text;
}

async function continuationOf(model, text) {
  const { next } = await model.next(text, { count: 0, temperature: 1, topK: 0, topP: 1 });
  return { model, next, first: (count) => next.slice(0, count).map((each) => each.text.trim()) };
}

const insideSentiment = [
  [
    'Choose “good”: in layer 1, head 1 attends to the token before, as in any text. In layer 2, head 6 attends to “not”.',
    async ({ seenBy }, text, model) => {
      assert.equal(seenBy('good', 1, 1), 'not');
      const other = await readingOf(model, 'A gripping, beautifully shot film.');
      assert.equal(other.seenBy('film', 1, 1), 'shot');
      for (const token of ['The', 'not', 'good']) assert.equal(seenBy(token, 2, 6), 'not');
    },
  ],
  [
    'Layer 1, head 6: “A”, the comma and “shot” all attend to “beautifully”, from both sides.',
    ({ seenBy }) => {
      for (const token of ['A', ',', 'shot']) assert.equal(seenBy(token, 1, 6), 'beautifully');
    },
  ],
  [
    'Layer 1, head 6: even “great” and “cast”, far from it, attend most to “dreadful”.',
    ({ seenBy }) => {
      for (const token of ['great', 'cast']) assert.equal(seenBy(token, 1, 6), 'dreadful');
    },
  ],
  [
    'The vocabulary lacks “Meh”: it is split into “Me” and “h”, and each has its own embedding.',
    ({ labels }) => assert.deepEqual(labels, ['Me', 'h', '.']),
  ],
];

/** The inside view translates greedily. */
async function stepsOf(model, text) {
  const result = await model.translate(text, { beams: 1, attention: true });
  const [{ attention, tokens, sourceTokens }] = result.sentences;
  const written = tokens.map((token) => token.text.trim());
  const read = sourceTokens.map((token) => token.text.trim());
  return {
    text: result.text,
    /** Returns what the decoder attends to most in the row that reads a token and writes the next. */
    seenAfter: (token, layer, head) =>
      seen(attention.cross, ['‹start›', ...written], read, token, layer, head),
  };
}

const insideTranslation = {
  'en-de': [
    [
      '“arrives” becomes “kommt” and, at the end, “an”. Choose “Uhr”, just before it: in layer 2, head 6 attends to “arrive”.',
      ({ text, seenAfter }) => {
        assert.equal(text, 'Der Zug kommt um sieben Uhr an.');
        assert.equal(seenAfter('Uhr', 2, 6), 'arrive');
      },
    ],
    [
      'The translation is wrong: “Bank” is a bench or a financial bank. A river bank is “Ufer”.',
      ({ text }) => assert.match(text, /Bank des Flusses/),
    ],
    [
      'The word order changes: “nicht” comes after “heute”, and “gesehen” moves to the end.',
      ({ text }) => assert.equal(text, 'Ich habe ihn heute nicht gesehen.'),
    ],
  ],
  'en-fr': [
    [
      'French needs “heures” after “sept”; no English word says so.',
      ({ text }) => assert.match(text, /sept heures/),
    ],
    [
      'The translation is wrong: “banque” is a financial bank. A river bank is “rive”.',
      ({ text }) => assert.match(text, /banque/),
    ],
    [
      '“not” becomes two tokens, “ne” and “pas”, with “l’ai” between them.',
      ({ text }) => assert.match(text, /ne l'ai pas/),
    ],
  ],
};

const insideWriter = [
  [
    '“best” comes first, “worst” third: see the last step.',
    ({ first }) => assert.deepEqual([first(3)[0], first(3)[2]], ['best', 'worst']),
  ],
  [
    '“years” comes first, then “wee”: the vocabulary has no token for “weeks”, so it takes two.',
    ({ first, next }) => {
      assert.deepEqual(first(2), ['years', 'wee']);
      assert.ok(!next.some(({ text }) => text.trim() === 'weeks'));
    },
  ],
  [
    'Two tokens lead, “Sp” and “Se”. In the Writing view, at temperature 0, “Sp” becomes “Spielberg”.',
    async ({ first }, text) => {
      assert.deepEqual(first(2), ['Sp', 'Se']);
      const written = await models.writer.generate(text, { sample: false, maxNewTokens: 4 });
      assert.match(written.text, /^ Spielberg/);
    },
  ],
];

/** The table of a pair, with its cells by the tokens of the text being patched. */
async function tableOf(model, text) {
  const { base, donor } = fromTransplantLink({ text });
  const table = await model.explain(
    { text: base, pair: donor },
    { method: 'activation_patching', label: 'positive' },
  );
  const [rows, cells] = table.delta.shape;
  const labels = table.cells.map(({ tokens }) =>
    tokens
      .map((i) => base.slice(table.tokens[i].start, table.tokens[i].end))
      .join('')
      .trim(),
  );
  return {
    table,
    rows,
    labels,
    deltas: (row) => table.delta.data.slice(row * cells, (row + 1) * cells),
    gap: table.donor - table.base,
  };
}

const inTransplant = [
  [
    'Before layer 1, only “not” differs between the texts. After one layer, “is” and “good” carry that difference, too.',
    ({ deltas, labels }) => {
      const moved = (row, least) => labels.filter((_, i) => Math.abs(deltas(row)[i]) > least);
      assert.deepEqual(moved(0, 1e-3), ['not']);
      for (const word of ['is', 'good']) assert.ok(moved(1, 0.2).includes(word), word);
    },
  ],
  [
    'Before layer 1, one vector holds the whole difference. After one layer, it is spread so widely that no single vector changes the verdict.',
    ({ deltas, table, gap }) => {
      assert.ok(deltas(0).some((delta) => Math.abs(delta - gap) < 1e-3));
      for (const delta of deltas(1))
        assert.equal(Math.sign(table.base + delta), Math.sign(table.base));
    },
  ],
  [
    'Both are praise: the number changes, the verdict does not.',
    ({ table, gap }) => {
      assert.ok(table.base > 0 && table.donor > 0);
      assert.ok(Math.abs(gap) > 0.5);
    },
  ],
  [
    'The same praise for another person: even a name has an effect, which this model learned from reviews.',
    ({ table, gap }) =>
      assert.ok(table.donor > 0 && Math.abs(gap) > 0.5, `${table.base} ${table.donor}`),
  ],
  [
    'The same words in another order: what comes last counts more.',
    ({ table }) => assert.ok(table.plainDonor > table.plainBase + 1),
  ],
  [
    'It takes three layers until the vector of “bad” carries much of what the text starts with.',
    ({ deltas, labels, gap }) => {
      const bad = labels.indexOf('bad');
      const shares = [0, 1, 2, 3].map((row) => deltas(row)[bad] / gap);
      assert.ok(Math.abs(shares[1]) < 0.2 && shares[3] > 2 * Math.abs(shares[1]), `${shares}`);
    },
  ],
];

/** Every example's notice is among the claims, and the claims hold. */
function check(view, shown, claims, which, read) {
  test(`what to notice: ${view}`, async () => {
    assert.deepEqual(
      shown.map(({ notice }) => notice),
      claims.map(([notice]) => notice),
    );
    const model = models[which];
    for (const [i, { text }] of shown.entries())
      await claims[i][1](await read(model, text), text, model);
  });
}

check('sentiment', examples, inSentiment, 'sentiment', readingOf);
check('transplant', transplant.examples, inTransplant, 'sentiment', tableOf);
check('inside, sentiment', inside.examples.sentiment, insideSentiment, 'sentiment', readingOf);
for (const target of ['de', 'fr']) {
  const name = `en-${target}`;
  check(
    `translation, ${target}`,
    translation.examples[target],
    inTranslation[target],
    target,
    renderingOf,
  );
  check(`inside, ${name}`, inside.examples[name], insideTranslation[name], target, stepsOf);
}
check('writing', writing.examples, inWriting, 'writer', continuationOf);
check('inside, writer', inside.examples.writer, insideWriter, 'writer', continuationOf);

test('writing: the beginnings of each pair have clearly different next words', async () => {
  const all = { count: 0, temperature: 1, topK: 0, topP: 1 };
  assert.equal(writing.pairs[0].base, writing.examples[0].text);
  for (const { name, base, donor } of writing.pairs) {
    const [own, other] = [
      (await models.writer.next(base, all)).next,
      (await models.writer.next(donor, all)).next,
    ];
    const lead = (next) => {
      const logprob = (id) => next.find((token) => token.id === id).logprob;
      return logprob(other[0].id) - logprob(own[0].id);
    };
    assert.ok(lead(own) < -1, `${name}: ${lead(own)}`);
    assert.ok(lead(other) > 1, `${name}: ${lead(other)}`);
  }
});

test('translation: the sentences of each pair are translated with different words', async () => {
  for (const target of ['de', 'fr']) {
    const model = models[target];
    for (const { name, base, donor } of translation.pairs) {
      const [own, other] = [await model.translate(base), await model.translate(donor)];
      assert.notEqual(own.text, other.text, `${target}, ${name}`);
    }
  }
});
