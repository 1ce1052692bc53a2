// The translator of export_onnx.py in onnxruntime-web: the encoder once, then a decoder step per
// token with cached keys and values. The search is greedy or the beam search of
// src/search/beam_search.cpp.
import { join } from 'node:path';
import * as ort from 'onnxruntime-web/wasm';
import { openOnnx } from './engines.mjs';

const int64 = (values, dims) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);

export class OnnxTranslator {
  static async load(folder, config) {
    const translator = new OnnxTranslator();
    translator.config = config;
    translator.encoder = await openOnnx(join(folder, 'encoder.onnx'));
    translator.decoder = await openOnnx(join(folder, 'decoder.onnx'));
    return translator;
  }

  /**
   * Returns the ids of the best hypothesis, at most `longest`. `special`: { start, end, never: Set
   * of ids }. `onToken` is called after each step.
   */
  async translate(
    source,
    { beams, special, longest = 3 * source.length + 16, onToken = () => {} },
  ) {
    const cross = await this.encoder.run({ ids: int64(source, [1, source.length]) });
    const { n_heads: heads, d_model: width, decoder_layers: layers } = this.config;
    const past = {};
    for (let layer = 0; layer < layers; ++layer)
      for (const kind of ['keys', 'values'])
        past[`${kind}.${layer}`] = new ort.Tensor('float32', [], [1, heads, 0, width / heads]);

    const count = 2 * beams + special.never.size;
    let live = [{ ids: [special.start], total: 0, row: 0 }];
    const complete = [];
    for (let length = 1; ; ++length) {
      const {
        tokens,
        log_probabilities: scores,
        ...next
      } = await this.decoder.run({
        ...past,
        ...cross,
        ids: int64(
          live.map(({ ids }) => ids.at(-1)),
          [live.length, 1],
        ),
        parents: int64(
          live.map(({ row }) => row),
          [live.length],
        ),
        position: int64([length - 1], [1]),
        count: int64([count], [1]),
      });
      for (const [name, tensor] of Object.entries(next)) past[name.replace('next_', '')] = tensor;

      const choices = [];
      live.forEach(({ ids, total }, row) => {
        for (let i = row * count; i < (row + 1) * count; ++i) {
          const id = Number(tokens.data[i]);
          if (!special.never.has(id)) choices.push({ ids, row, id, total: total + scores.data[i] });
        }
      });
      choices.sort((a, b) => b.total - a.total);
      live = [];
      choices.slice(0, 2 * beams).forEach(({ ids, row, id, total }, rank) => {
        const hypothesis = { ids: [...ids, id], total, row };
        if (id !== special.end) {
          if (live.length < beams) live.push(hypothesis);
        } else if (rank < beams) {
          complete.push(hypothesis);
        }
      });
      onToken();
      if (complete.length >= beams || length >= longest) break;
    }
    const score = ({ ids, total }) => total / (ids.length - 1);
    const best = (complete.length > 0 ? complete : live).reduce((a, b) =>
      score(b) > score(a) ? b : a,
    );
    return best.ids.slice(1);
  }
}
