// Compiled, not run, by package.test.mjs: how a user of the types writes, and what they refuse.

import { Classifier, GlassformerError } from 'glassformer';
import type {
  AttentionMap,
  Classification,
  ClassifyOptions,
  ErrorCode,
  ModelFiles,
  ModelInfo,
  Progress,
  Token,
} from 'glassformer';

export async function use(files: ModelFiles, signal: AbortSignal): Promise<void> {
  const classifier: Classifier = await Classifier.load('./models/sentiment', {
    compute: 'f32',
    onProgress: ({ file, loaded, total }: Progress) =>
      console.log(`${file}: ${loaded} of ${total?.toFixed() ?? '?'}`),
    signal,
    urls: { 'glassformer.wasm': new URL('https://example.org/glassformer.wasm') },
  });
  await Classifier.load(new URL('https://example.org/sentiment/'));
  await Classifier.load(files);

  const info: ModelInfo = classifier.info;
  const labels: string[] = info.labels;

  const result: Classification = await classifier.classify('A gripping film.', {
    attention: true,
    contributions: true,
    ablate: [{ attention: 'encoder', layer: 2, head: 5 }],
    maskTokens: [3],
    signal,
  });
  const tokens: Token[] = result.tokens;
  const probability: number = result.scores[labels[0] ?? ''] ?? 0;
  const map: AttentionMap | undefined = result.attention?.encoder;
  const head: Float32Array | undefined = map?.at(0, 0);
  const many: Classification[] = await classifier.classifyBatch(['a', 'b'] as const);
  const wanted: boolean | undefined = undefined;
  const options: ClassifyOptions = { attention: wanted };
  console.log(tokens, probability, head, many, options);

  try {
    await classifier.classify('');
  } catch (error) {
    if (error instanceof GlassformerError) {
      const code: ErrorCode = error.code;
      console.log(code === 'empty_input', error.message, error.cause);
    }
  }
  classifier.dispose();
  classifier[Symbol.dispose]();

  // @ts-expect-error: unknown option
  await classifier.classify('a', { attentions: true });
  // @ts-expect-error: there is no such attention in a classifier
  await classifier.classify('a', { ablate: [{ attention: 'cross', layer: 0, head: 0 }] });
  // @ts-expect-error: not a text
  await classifier.classify(7);
  // @ts-expect-error: unknown arithmetic
  await Classifier.load('x', { compute: 'f16' });
  // @ts-expect-error: a file is missing
  await Classifier.load({ 'config.json': new Uint8Array() });
  // @ts-expect-error: attention is there only if asked for
  result.attention.encoder;
  // @ts-expect-error: made by load only
  new Classifier();
  // @ts-expect-error: read-only
  classifier.info = info;
}
