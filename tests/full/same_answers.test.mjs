// The binaries of a quick build and of a release give the same answers, to the bit.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  Trainer,
  dist,
  goldenFolder,
  openAny,
  readGolden,
  root,
} from '../package/support/helpers.mjs';

const models = (name) => join(root, 'weights', name);
const review = readGolden('pre_norm_mean').texts[0];

/** Answers of each kind, by what they are. */
const answers = {
  'a classification with everything that can be seen': async (module) => {
    const model = await openAny(models('sentiment'), { module, compute: 'f32' });
    return model.classify(review, { attention: true, contributions: true, trace: ['encoder.*'] });
  },
  'a classification with integers': async (module) => {
    const model = await openAny(goldenFolder('pre_norm_mean'), { module, compute: 'int8' });
    return model.classify(review, { attention: true });
  },
  'gradients and an explanation': async (module) => {
    const model = await openAny(models('sentiment'), { module, compute: 'f32' });
    const { gradients } = await model.classify(review, { gradients: ['encoder.*'] });
    return [gradients, await model.explain(review, { method: 'relevance' })];
  },
  'a translation': async (module) => {
    const model = await openAny(models('en-de'), { module });
    return model.translate('A man is riding a bicycle.', { beams: 4, attention: true });
  },
  'a text': async (module) => {
    const model = await openAny(models('writer'), { module });
    return model.generate('This film is', { maxNewTokens: 8, attention: true });
  },
  'a picture': async (module) => {
    const model = await openAny(models('digits'), { module });
    const data = Uint8Array.from({ length: 28 * 28 }, (_, i) => i % 251);
    return model.classify({ width: 28, height: 28, data }, { attention: true });
  },
  'a training': async (module) => {
    const examples = ['good\ta fine film', 'bad\ta dull film'].join('\n');
    const start = { encoder_layers: 1, d_model: 16, d_ff: 32, n_heads: 2 };
    const trainer = await Trainer.from(start, examples, { module, heldOut: 0 });
    const losses = [];
    for await (const { loss } of trainer.train({ epochs: 3 })) losses.push(loss);
    return losses;
  },
};

const reading = Object.keys(answers).slice(0, 2);
const scopes = {
  '': Object.keys(answers),
  '.read': reading,
  '.threads': Object.keys(answers).filter((name) => name !== 'a training'),
};

for (const [scope, names] of Object.entries(scopes)) {
  for (const kind of ['', '.relaxed']) {
    const file = `glassformer${scope}${kind}.wasm`;
    for (const name of names) {
      test(`${file}: ${name}`, async () => {
        const [quick, release] = [join(root, 'build/quick', file), join(dist, file)].map((path) =>
          readFileSync(path),
        );
        assert.notDeepEqual(quick, release, 'the builds differ');
        assert.deepEqual(await answers[name](quick), await answers[name](release));
      });
    }
  }
}
