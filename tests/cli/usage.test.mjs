// The help of the `glassformer` command, and its messages about wrong arguments and lines.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command, glassformer, root } from './run.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-usage-'));
after(() => rmSync(scratch, { recursive: true }));
const classifier = join(root, 'tests/fixtures/golden/pre_norm_mean');
const translator = join(root, 'tests/fixtures/golden/translate_pre_norm_shared');
const generator = join(root, 'tests/fixtures/checkpoints/gpt2_generate');

const help = (...names) => glassformer(['help', ...names]).stdout;
const commands = [...help().matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);

test('the version equals that of the package', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json')));
  assert.deepEqual(glassformer(['--version']).lines, [`glassformer ${version}`]);
});

test('help COMMAND prints the same as COMMAND --help', () => {
  assert.ok(commands.includes('classify') && commands.includes('quantize'), `${commands}`);
  assert.equal(help(), glassformer(['--help']).stdout);
  for (const name of commands) {
    const { status, stdout } = glassformer([name, '--help']);
    assert.equal(status, 0);
    assert.ok(stdout.length > 50);
    assert.equal(help(name), stdout);
  }
});

test('a command is asked for', () => {
  const { status, stderr } = glassformer([]);
  assert.equal(status, 2);
  assert.match(stderr, /\nglassformer help COMMAND shows the options\n$/);
});

test('lines may end as on Windows', () => {
  const roberta = join(root, 'tests/fixtures/checkpoints/roberta_sequence');
  for (const args of [
    ['classify', roberta],
    ['generate', generator, '--max-new-tokens', '3'],
    ['tokenize', roberta],
  ]) {
    const text = 'a gripping film';
    const { lines } = glassformer(args, `${text}\r\n${text}`);
    assert.equal(lines.length, 2);
    assert.equal(lines[0], lines[1], args[0]);
  }
});

test('mistyped words are named, with a suggestion', () => {
  const refused = (args, pattern) => {
    const { status, stdout, stderr } = glassformer(args);
    assert.equal(status, 2, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, pattern);
  };
  refused(['clasify', 'x'], /no command "clasify"; did you mean classify\?/);
  refused(['help', 'tarnslate'], /no command "tarnslate"; did you mean translate\?/);
  refused(['token'], /no command "token"; did you mean tokenize\?/);
  refused(['frobnicate'], /no command "frobnicate"; glassformer help lists all/);
  refused(['\x1b[2J'], /no command "\\x1b\[2J"/);
  refused(['classify', classifier, '--jsno'], /--jsno; did you mean --json\?\n.*help classify/);
  refused(['generate', generator, '--temprature=2'], /did you mean --temperature\?/);
  refused(['classify', classifier, '--xyzzy'], /--xyzzy\n/);
  refused(['classify'], /MODEL_DIR is required/);
  refused([], /subcommand is required/i);
  refused(['classify', classifier, '--compute', 'f16'], /f16 not in \{/);
});

test('options whose output needs JSON require --json', () => {
  for (const [verb, ...options] of [
    ['classify', '--attention', '--contributions'],
    ['translate', '--attention', '--hypotheses'],
    ['generate', '--attention', '--hypotheses'],
    ['ner', '--attention'],
    ['answer', '--attention'],
    ['embed', '--attention'],
  ]) {
    for (const option of options) {
      const { status, stderr } = glassformer([verb, classifier, option], 'a\n');
      assert.equal(status, 2);
      assert.match(stderr, new RegExp(`${option} requires --json`));
    }
  }
});

test('errors name the line and, for invalid UTF-8, the byte; other lines are answered', () => {
  const input = Buffer.from('a film\n\na\xffb\nmeh \xc3\n\xed\xa0\x80\na\xcc\x81\n', 'latin1');
  const places = [/line 3: expected UTF-8, got the byte 0xff at byte 2\n/];
  places.push(/line 4: expected UTF-8, got the byte 0xc3 at byte 5\n/);
  places.push(/line 5: expected UTF-8, got the byte 0xed at byte 1\n/);
  const check = ({ status, stderr }) => {
    assert.equal(status, 1);
    for (const place of places) assert.match(stderr, place);
    assert.doesNotMatch(stderr, /line [16]:/);
  };
  const classified = glassformer(['classify', classifier], input);
  check(classified);
  assert.match(classified.stderr, /line 2: text: expected at least one token, got none\n/);
  assert.deepEqual(
    classified.lines.map((line) => line.split('\t')[0] === 'error'),
    [false, true, true, true, true, false],
  );
  const translated = glassformer(['translate', translator], input);
  check(translated);
  assert.deepEqual(
    translated.lines.map((line) => line !== ''),
    [true, false, false, false, false, true],
  );
  check(glassformer(['generate', generator, '--threads', '2'], input));
  check(glassformer(['explain', classifier, '--method', 'rollout', '--json'], input));
  check(glassformer(['tokenize', classifier], input));
  check(
    glassformer(['trace', classifier, '--names', 'logits', '--out', join(scratch, 't')], input),
  );
});

test('a command says so if it reads from a terminal, and only then', () => {
  const line = `'${command}' tokenize '${classifier}'`;
  const { stdout } = spawnSync('script', ['-qec', line, '/dev/null'], {
    input: 'a film\n\x04',
    encoding: 'utf8',
  });
  assert.match(stdout, /glassformer: type a line, and Enter; Ctrl-D ends/);
  assert.equal(glassformer(['tokenize', classifier], 'a film\n').stderr, '');
});

test('the manual page and the completions know every command and option', () => {
  const manual = glassformer(['manual']).stdout.replaceAll('\\-', '-');
  assert.match(manual, /^\.TH GLASSFORMER 1 /);
  const shells = ['bash', 'zsh', 'fish'];
  const completions = shells.map((shell) => glassformer(['completion', shell]).stdout);
  for (const name of commands) {
    assert.ok(manual.includes(`.SS glassformer ${name}`), name);
    for (const text of completions) assert.ok(text.includes(name), name);
    for (const [, option] of help(name).matchAll(/^ {2}--([a-z-]+)/gm)) {
      assert.ok(manual.includes(`.B --${option}`), option);
      completions.forEach((text, i) => {
        assert.ok(text.includes(i < 2 ? `--${option}` : `-l ${option}`), `${shells[i]}: ${option}`);
      });
    }
  }
  assert.ok(!/^['.](?!TH|SH|SS|TP|B|I)/m.test(manual));
});

test('bash completes commands, options and values', () => {
  const complete = (...words) => {
    const line = [
      `source <('${command}' completion bash)`,
      `COMP_WORDS=(glassformer ${words.map((word) => `'${word}'`).join(' ')})`,
      `COMP_CWORD=${words.length}; _glassformer; echo "\${COMPREPLY[@]}"`,
    ].join('; ');
    const { stdout, stderr } = spawnSync('bash', ['-c', line], { encoding: 'utf8' });
    assert.equal(stderr, '');
    return stdout.trim().split(' ');
  };
  assert.deepEqual(complete('cl'), ['classify']);
  assert.deepEqual(complete('--v'), ['--version']);
  assert.deepEqual(complete('classify', '--att'), ['--attention']);
  assert.deepEqual(complete('classify', '--compute', ''), ['f32', 'int8', 'int4']);
  assert.deepEqual(complete('generate', '--early-stopping', 'n'), ['never']);
  assert.deepEqual(complete('ner', '--aggregation', 's'), ['simple']);
  assert.deepEqual(complete('completion', ''), ['bash', 'zsh', 'fish']);
});
