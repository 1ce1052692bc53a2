// Translations of HTML and of texts with placeholders, by the model in weights/en-de.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Translator, assertError, companion, load, root } from '../support/helpers.mjs';

const { translateHtml, translateText } = await import(companion('html'));
const translator = await load(join(root, 'weights/en-de'), {}, Translator);

const sentences = [
  'Hello <b>world</b>, how are you?',
  'Click <a href="/a?b=1&amp;c=2" class=x>here</a> to read <em>the <b>new</b> book</em>.',
  'Write to <a href="mailto:help@example.org">help@example.org</a> if you need help.',
  'Run <code>npm test</code> before you start <i>the server</i>.',
  'You have {count} new messages, <strong>{{ name }}</strong>!',
  'The <span title="x > y">old house</span> is <em>very</em> small.',
  'How are you <img src="a.png" alt="A cat"> today?',
  'The cat &amp; the dog are <u>friends</u>.',
  'Open https://example.org/a_b?c=1&amp;d=2. It is <span translate="no">Acme Cloud</span>!',
  '<b>All of this is bold.</b>',
  'This is <a href="1">the first</a> and <a href="2">the second</a> link.',
  'Read <a href="x"><img src="y.png"></a> and <i>tell</i> me <b>what</b> you think.',
  'Your order %1$s was sent on %2$s to <em>${address}</em>.',
  'Only %d of %d seats are left.',
  'The file <kbd>C:\\temp</kbd> could not be found.',
  'She said: <q>I do not <em>want</em> to go.</q>',
  'Water is H<sub>2</sub>O.',
  'Today<!-- a note --> is a good day.',
  '<i><b><u>Three</u> of</b> them</i> came.',
  'He was born in <time datetime="1960">1960</time> in <span class="notranslate">New York</span>.',
  'Please <label for="a">enter your name <input id="a"></label> here.',
  'I <del>hate</del> <ins>love</ins> this film.',
  'Questions? <small>Ask <a href="mailto:a@b.example">a@b.example</a> or visit www.example.org.</small>',
  'The price is 5 &lt; 6 &euro; <b>per</b> day.',
  'X1 and {a} are <b>not</b> the same.',
  'My <b>mother</b> and my <b>father</b> live in a <b>big</b> house.',
  '<a href="1">Home</a> | <a href="2">News</a> | <a href="3">Contact</a>',
  'Do you know <svg><path d="M0 0"></path></svg> this <b>sign</b>?',
  'We work with <var>n</var> people from <b><i>many</i></b> countries.',
  '{greeting}, {name}! <b>{n}</b> people like <em>your picture</em>.',
];

/** What must be in a translation as often as in its source. */
const tagPattern = /<!--.*?-->|<\/?[a-z](?:"[^"]*"|[^">])*>/g;
const keptPattern =
  /https?:\/\/[^\s<]*[^\s<.!]|[\w.]+@[\w.]+\w|www\.[\w.]+\w|\{\{.*?\}\}|\$?\{\w+\}|%(?:\d\$)?[sd]\b|npm test|Acme Cloud|C:\\temp|New York/g;
const found = (text, pattern) => [...text.matchAll(pattern)].map(([part]) => part).toSorted();

const empty = ['img', 'input', 'br', 'hr', 'wbr'];

/** Returns whether each element ends within the one that it began in. */
function isNested(html) {
  const open = [];
  for (const [tag] of html.matchAll(tagPattern)) {
    const [, end, name] = /^<(\/?)([a-z]\w*)/.exec(tag) ?? [];
    if (name === undefined || empty.includes(name)) continue;
    if (!end) open.push(name);
    else if (open.pop() !== name) return false;
  }
  return open.length === 0;
}

test('every tag, placeholder and address is in the translation once, well nested', async () => {
  assert.equal(sentences.length, 30);
  for (const sentence of sentences) {
    const html = `<p>${sentence}</p>`;
    assert.ok(isNested(html), html);
    const translated = await translateHtml(translator, html);
    assert.deepEqual(found(translated, tagPattern), found(html, tagPattern), translated);
    assert.deepEqual(found(translated, keptPattern), found(html, keptPattern), translated);
    assert.ok(isNested(translated), translated);
  }
});

test('tags are around the words that were translated from theirs', async () => {
  const cases = {
    'Click <a href="x">here</a> to read <em>the <b>new</b> book</em>.':
      /<a href="x">hier<\/a>.*<em>das <b>neue<\/b> Buch<\/em>/,
    'The cat &amp; the <b>dog</b>.': /Katze &amp; .*<b>Hund<\/b>/,
    '<b>My mother lives here.</b>': /^<b>Meine Mutter .*<\/b>$/,
    'How are you <img src="a"> today?': / <img src="a"> heute/,
  };
  for (const [html, expected] of Object.entries(cases)) {
    assert.match(await translateHtml(translator, html), expected);
  }
});

test('blocks are translated apart, and what is not text stays', async () => {
  const stays = [
    '<!doctype html>',
    '<script>if (a < b) document.write("<p>Hello</p>")</script>',
    '<style>p > b { color: red }</style>',
    '<pre>  Hello <b>world</b>\n</pre>',
    '<textarea>Hello <world</textarea>',
    '<div class="a notranslate">Hello <p>world</p></div>',
    '<!-- Good <b>morning -->',
    '<td>42</td>',
    '<hr>',
  ];
  const html = `${stays.join('\n')}<ul>\n  <li> Good morning. <li>Good night.</ul>`;
  const translated = await translateHtml(translator, html);
  assert.ok(translated.startsWith(stays.join('\n')), translated);
  assert.match(translated, /<ul>\n {2}<li> Guten Morgen\. <li>Gute Nacht\.<\/ul>$/);
});

test('attributes are translated if asked', async () => {
  const html = '<p title="The old house"><img alt=\'A cat &amp; a dog\' src="The old house"> x</p>';
  assert.match(
    await translateHtml(translator, html),
    /title="The old house".*alt='A cat &amp; a dog'/,
  );
  const attributes = ['title', 'alt'];
  const translated = await translateHtml(translator, html, { attributes });
  assert.match(
    translated,
    /^<p title="Das alte Haus"><img alt="Eine Katze und ein Hund" src="The old house">/,
  );
});

test('wrong HTML is neither refused nor lost', async () => {
  for (const html of [
    'The <b>red <i>car</b> is</i> fast.',
    'One <b>open element.<p>The next one.</p>',
    'A close</b> tag. </p></div>',
    'It is < 5 and > 3 & more &nothing; &#0; &#xD800; <',
    'The end <a href="x',
    'The end <!-- of it',
    '<script>The end',
    '<code>The <pre>end',
    '</>The</ end>of<?php it ?>',
    '<a b="c>The <i d=\'"\'>end</i>',
  ]) {
    const translated = await translateHtml(translator, html);
    assert.deepEqual(found(translated, tagPattern), found(html, tagPattern), translated);
  }
  // Nothing of this is a text.
  for (const html of ['', ' \n', '<', '<p>', '42', '<p>{a}</p>', '&amp;amp; 1', '<i>&foo;</i>']) {
    assert.equal(await translateHtml(translator, html), html);
  }
});

test('any soup of tags keeps its tags', async () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 16807) % 2147483647) % below;
  const parts = ['<b>', '</b>', '<i>', '</i>', '<p>', '</p>', '<br>', '<img>', '<a x=">">', '</a>'];
  const words = ['good', 'the dog', '{x}', 'morning.', ' ', '&amp;', '<', '%s'];
  for (let i = 0; i < 60; i++) {
    const pick = () =>
      random(2) ? parts[random(parts.length)] : ` ${words[random(words.length)]}`;
    const html = Array.from({ length: 14 }, pick).join('');
    const translated = await translateHtml(translator, html, { beams: 1 });
    assert.deepEqual(found(translated, tagPattern), found(html, tagPattern), `${i}: ${html}`);
    assert.deepEqual(found(translated, keptPattern), found(html, keptPattern), `${i}: ${html}`);
  }
});

test('tags within each other, in any number, and long words', async () => {
  const nested = (count) => '<b>'.repeat(count) + 'Good morning.' + '</b>'.repeat(count);
  for (const count of [3, 20_000]) {
    const translated = await translateHtml(translator, nested(count), { beams: 1 });
    assert.deepEqual(found(translated, tagPattern), found(nested(count), tagPattern));
    assert.ok(isNested(translated));
    assert.equal(translated.replace(tagPattern, ''), 'Guten Morgen.');
  }
  // Each of these took time with the square of its length, or did not fit on the stack.
  const many = 100_000;
  for (const html of [
    '<br>'.repeat(2 * many),
    '<i>'.repeat(many),
    '</i>'.repeat(many),
    '<code>'.repeat(many),
    `<b ${'x'.repeat(many)}>5</b>`,
    `<b>${'<i>'.repeat(many)}${'</u>'.repeat(many)}</b>`,
    `%${'0'.repeat(many)} 5`,
    '{{x}} '.repeat(many / 10),
  ])
    assert.equal(await translateHtml(translator, html), html);
  const word = `${'ab+'.repeat(many / 3)}`;
  const signal = AbortSignal.timeout(1);
  await assertError(() => translateHtml(translator, `<p>${word}</p>`, { signal }), 'aborted');
});

test('texts keep placeholders and addresses', async () => {
  const text = '  Hello {{name}}, your order %1$s was sent to bob@example.org.\nIt has 50% off!\n';
  const translated = await translateText(translator, text);
  assert.match(translated, /^ {2}Hallo \{\{name\}\}, .*%1\$s.*bob@example\.org.*\n.*50 ?%.*!\n$/s);
  const user = 'Thank you, @anna_b, for your help.';
  assert.match(await translateText(translator, user, { keep: [/@\w+/] }), /@anna_b\b/);
  assert.equal(await translateText(translator, 'a < b', { keep: [/a < b/] }), 'a < b');
});

test('options', async () => {
  const refused = (call, pattern) => assertError(call, 'invalid_option', pattern);
  await refused(() => translateHtml(translator, 5), /html: expected a string/);
  await refused(() => translateText(translator, 'a', { attributes: [] }), /unknown option/);
  await refused(() => translateHtml(translator, 'a', { attributes: 'alt' }), /attributes/);
  await refused(() => translateHtml(translator, 'a', { keep: ['a'] }), /keep/);
  await refused(() => translateHtml(translator, 'a', { keep: [/\-/] }), /keep/);
  await refused(() => translateHtml(translator, 'a', { beams: 0 }), /beams/);
  const signal = AbortSignal.abort();
  await assertError(() => translateHtml(translator, 'a', { signal }), 'aborted');
});
