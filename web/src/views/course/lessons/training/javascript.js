import { Trainer } from 'glassformer';
import { heldOut, training } from './sentences.ts'; // { text, label } each: write your own

const size = { encoder_layers: 2, d_model: 32, d_ff: 64, n_heads: 4 };
const options = {
  ...{ rate: 0.005, warmUp: 0.2, decay: 'linear', smoothing: 0.1, dropout: 0.1 },
  ...{ vocabulary: 300, batchTokens: 128, averaging: 0, heldOut: 0 },
};

export async function run(model, text) {
  const { label } = await model.classify(text); // the big model labels your sentence
  const examples = [...training, { text, label }];
  const lines = [];
  for (const seed of [1, 2]) {
    for (const smoothing of [0.1, 0]) {
      const trainer = await Trainer.from(size, examples, { ...options, smoothing, seed });
      for await (const step of trainer.train({ epochs: 60 })) {
        void step; // step.loss, step.rate, step.gradientNorm, …
      }
      const [seen, unseen] = [await trainer.evaluate(examples), await trainer.evaluate(heldOut)];
      const show = ({ loss, accuracy }) =>
        `${loss.toFixed(3)} (${Math.round(100 * accuracy)}% right)`;
      lines.push(
        `seed ${seed}, smoothing ${smoothing}: training ${show(seen)}, held out ${show(unseen)}`,
      );
      trainer.dispose();
    }
  }
  return lines;
}
