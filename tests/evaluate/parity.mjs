// Compares the answers of the native command and the WebAssembly package, on every text of the test
// files, in the arithmetic of the stored weights. For answers that differ, it reports the margin by
// which the model preferred them.
import { join } from 'node:path';
import { root } from '../../tools/build.mjs';
import { glassformer, onEveryCore, pipeLines } from './lines.mjs';

const textsAtOnce = 256;

/** Returns the answers of the package in this Node. Calls `answer(model, texts)` in batches. */
async function answerInWasm(Model, folder, texts, answer) {
  const model = await Model.load(folder);
  const answers = [];
  for (let i = 0; i < texts.length; i += textsAtOnce) {
    answers.push(...(await answer(model, texts.slice(i, i + textsAtOnce))));
  }
  const { binary, compute } = model.info;
  model.dispose();
  return { answers, binary, compute };
}

const parse = async (args, texts) =>
  (await pipeLines(glassformer, [...args, '--json', ...onEveryCore], texts)).map((line) =>
    JSON.parse(line),
  );

function summary({ binary, compute }, texts, margins) {
  return {
    binary,
    compute,
    texts,
    different: margins.length,
    margins: margins.toSorted((a, b) => b - a),
  };
}

/** Returns the labels that differ, with the distance of the native score from an even one. */
async function compareClassifier(folder, texts) {
  const { Classifier } = await import(join(root, 'dist/index.js'));
  const wasm = await answerInWasm(Classifier, folder, texts, (model, some) =>
    model.classifyBatch(some),
  );
  const native = await parse(['classify', folder], texts);
  const margins = wasm.answers.flatMap(({ label, scores }, i) => {
    if (label === native[i].label) return [];
    const id = scores.findIndex((each) => each.label === label);
    const own = native[i].scores[id].score;
    return [Math.abs(native[i].score - own) + Math.abs(scores[id].score - own)];
  });
  return summary(wasm, texts.length, margins);
}

/**
 * Returns, per different translation, the difference of log-probabilities at the first difference.
 */
async function compareTranslator(folder, texts) {
  const { Translator } = await import(join(root, 'dist/index.js'));
  const wasm = await answerInWasm(Translator, folder, texts, (model, some) =>
    model.translateBatch(some, { beams: 1 }),
  );
  const native = await parse(['translate', folder, '--beams', '1'], texts);
  const tokensOf = ({ sentences }) => sentences.flatMap(({ tokens }) => tokens);
  const margins = wasm.answers.flatMap((answer, i) => {
    const [ours, theirs] = [tokensOf(answer), tokensOf(native[i])];
    const at = ours.findIndex(({ id }, k) => id !== theirs[k]?.id);
    if (at < 0 && ours.length === theirs.length) return [];
    const [a, b] = [ours.at(at), theirs[at] ?? theirs.at(-1)];
    return [Math.abs(a.logprob - b.logprob)];
  });
  return summary(wasm, texts.length, margins);
}

/** Resolves to { binary, compute, texts, different, margins }, margins from the largest on. */
export function compareBuilds(folder, config, texts) {
  const compare = config.task === 'translation' ? compareTranslator : compareClassifier;
  return compare(
    folder,
    texts.filter((text) => text.trim() !== ''),
  );
}

export function reportParity({ binary, compute, texts, different, margins }) {
  const share = ((100 * (texts - different)) / texts).toFixed(2);
  const largest =
    margins.length > 0
      ? `; where they differ, the model's preference is at most ${margins[0].toFixed(4)}`
      : '';
  console.log(
    `\nNative and wasm (${binary}, ${compute}): ${texts - different} of ${texts} answers are the same (${share} %)${largest}.`,
  );
}
