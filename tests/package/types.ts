// Compiled, not run, by package.test.mjs: how a user of the types writes, and what they refuse.

import { Classifier, GlassformerError, Translator } from 'glassformer';
import type {
  AlignmentLink,
  AttentionMap,
  Candidate,
  Classification,
  ClassifierInfo,
  ClassifyOptions,
  ErrorCode,
  Hypothesis,
  ModelFiles,
  ModelInfo,
  OutputToken,
  Progress,
  SentenceTranslation,
  Token,
  TranslateOptions,
  Translation,
  TranslationStep,
  TranslatorInfo,
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
  const at = new URL('https://example.org/');
  await Classifier.load({ 'config.json': at, 'model.safetensors': at, 'tokenizer.model': at });

  const info: ClassifierInfo = classifier.info;
  const common: ModelInfo = info;
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
  console.log(common, tokens, probability, head, many, options);

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

export async function useTranslator(files: ModelFiles, signal: AbortSignal): Promise<void> {
  const translator: Translator = await Translator.load('./models/en-de', { signal });
  await Translator.load(files);
  const source = new Uint8Array();
  const weights = { 'config.json': source, 'model.safetensors': source };
  await Translator.load({ ...weights, 'source.model': source, 'target.model': source });
  const info: TranslatorInfo = translator.info;
  const languages: [string, string] = [info.sourceLanguage, info.targetLanguage];

  const options: TranslateOptions = {
    beams: 4,
    lengthPenalty: 0.6,
    maxLength: 100,
    attention: true,
    alignment: { layer: 1, heads: [0, 3] },
    hypotheses: true,
    ablate: [{ attention: 'cross', layer: 0, head: 2 }],
    signal,
  };
  const result: Translation = await translator.translate('How are you?', options);
  const many: Translation[] = await translator.translateBatch(['a', 'b'] as const, options);
  const sentence: SentenceTranslation | undefined = result.sentences[0];
  const cross: AttentionMap | undefined = sentence?.attention?.cross;
  const links: AlignmentLink[] = sentence?.alignment ?? [];
  const others: Hypothesis[] = sentence?.hypotheses ?? [];
  const tree: Candidate[] = sentence?.tree ?? [];
  console.log(languages, many, cross?.at(1, 0), links, others, tree);

  for await (const step of translator.stream('How are you?', { attention: true, signal })) {
    const { token, text, attention }: TranslationStep = step;
    const piece: OutputToken = token;
    console.log(piece.logprob, text.length, attention?.decoder.keys, step.sentence.sourceTokens);
  }
  const stream = translator.stream('How are you?');
  const next = await stream.next();
  if (next.done) {
    const whole: Translation = next.value;
    console.log(whole);
  }
  translator.dispose();
  translator[Symbol.dispose]();

  // @ts-expect-error: a stream is greedy
  translator.stream('a', { beams: 4 });
  // @ts-expect-error: unknown option
  await translator.translate('a', { maskTokens: [1] });
  // @ts-expect-error: there is no such attention
  await translator.translate('a', { ablate: [{ attention: 'self', layer: 0, head: 0 }] });
  // @ts-expect-error: the target's vocabulary is missing
  await Translator.load({ ...weights, 'source.model': source });
  // @ts-expect-error: alignment is there only if asked for
  result.sentences[0]?.alignment.length;
  // @ts-expect-error: made by load only
  new Translator();
}
