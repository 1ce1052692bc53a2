// The program that every environment runs, and its expected outcome: the native command's verdicts.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { command } from '../native_build.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const texts = ['A gripping, beautifully shot film.', 'Two hours of my life that I want back.'];
const mark = 'outcome ';

/** The import for scripts that cannot find the package's files next to themselves. */
export const inline = "import … from 'glassformer/inline'";

/** The arguments of `judge` that also load the model from its npm package. */
export const packaged = {
  imports: "import files from '@glassformer/sentiment';",
  models: ["'/weights/sentiment'", 'files'],
};

/**
 * Returns the source of a module that loads models, classifies the texts and can print the outcome.
 * `imports`: further imports; `from`: the package's specifier; `models` and `options`: expressions.
 */
export function judge({
  imports = '',
  from = 'glassformer',
  models = ["'/weights/sentiment'"],
  options = '{}',
} = {}) {
  return `import { Classifier } from '${from}';
${imports}
export async function judge(options = ${options}) {
  const outcome = { models: [] };
  try {
    for (const model of [${models}]) {
      const classifier = await Classifier.load(model, options);
      outcome.binary = classifier.info.binary;
      const verdicts = [];
      for (const text of ${JSON.stringify(texts)}) {
        const { label, score } = await classifier.classify(text);
        verdicts.push({ label, score });
      }
      classifier.dispose();
      outcome.models.push(verdicts);
    }
  } catch (error) {
    outcome.error = (error.code ?? error.name) + ': ' + error.message;
  }
  return outcome;
}

export function report(outcome) {
  globalThis.outcome = outcome;
  console.log('${mark}' + JSON.stringify(outcome));
}
`;
}

/** A function that waits for the answer which a recipe shows, and prints it. */
export const look = `function look() {
  const said = document.querySelector('output, p')?.textContent ?? '…';
  if (said === '…') setTimeout(look, 20);
  else console.log('${mark}' + JSON.stringify({ said }));
}
`;

/** A program of two lines that uses this module, \`judge.js\`. */
export const main = `import { judge, report } from './judge.js';
judge().then(report);
`;

/** Returns the outcome in a printed line, if it contains one. */
export function outcomeIn(line) {
  return line.startsWith(mark) ? JSON.parse(line.slice(mark.length)) : undefined;
}

/** Returns the outcome in the output of a program. */
export function outcomeOf(output) {
  const outcome = output
    .split('\n')
    .map((line) => outcomeIn(line.trim()))
    .find(Boolean);
  return outcome ?? { error: `no outcome in "${output}"` };
}

let expected;

/** Asserts that an environment's verdicts equal those of the native command. */
export function assertOutcome({ outcome, complaints = [], workers }, wantedWorkers) {
  expected ??= execFileSync(command, ['classify', join(root, 'weights/sentiment')], {
    input: texts.join('\n') + '\n',
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  if (outcome.error) assert.fail([outcome.error, ...complaints].join('\n'));
  assert.deepEqual(complaints, []);
  if (outcome.said !== undefined) {
    assert.equal(outcome.said, expected[0][0]);
    if (workers < wantedWorkers) assert.fail(`${workers} workers started, not ${wantedWorkers}`);
    return;
  }
  assert.match(outcome.binary, /^(simd|relaxed)$/);
  for (const verdicts of outcome.models) {
    assert.equal(verdicts.length, expected.length);
    for (const [i, [label, score]] of expected.entries()) {
      const verdict = verdicts[i];
      assert.equal(verdict.label, label);
      assert.ok(Math.abs(verdict.score - score) < 1e-3, `${verdict.score}, expected ${score}`);
    }
  }
  if (workers < wantedWorkers) assert.fail(`${workers} workers started, expected ${wantedWorkers}`);
}
