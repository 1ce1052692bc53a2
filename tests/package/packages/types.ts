// package.test.mjs compiles this file and does not run it: correct uses of the types, and wrong
// ones.

import {
  AttentionMap,
  Classifier,
  Embedder,
  Generator,
  ImageClassifier,
  GlassformerError,
  MaskFiller,
  QuestionAnswerer,
  Summarizer,
  TokenClassifier,
  Translator,
  ZeroShotImageClassifier,
  inspect,
  load,
} from 'glassformer';
import type {
  Aggregation,
  AlignmentLink,
  Answer,
  Architecture,
  Candidate,
  Classification,
  ClassifierInfo,
  ClassifyOptions,
  EmbedderInfo,
  Embedding,
  Entity,
  ErrorCode,
  Generation,
  GenerationStep,
  GeneratorInfo,
  Given,
  Hypothesis,
  Inspection,
  LastStep,
  LayerArchitecture,
  Model,
  ModelFiles,
  ModelInfo,
  NextToken,
  Outcome,
  OutputToken,
  Patch,
  Pooling,
  Progress,
  Question,
  SentenceTranslation,
  TextPair,
  Texts,
  Token,
  TokenClassification,
  TokenStep,
  TracedTensor,
  TranslateOptions,
  Translation,
  TranslationStep,
  TranslatorInfo,
  WeightInfo,
} from 'glassformer';
import { AttentionView, type AttentionKind, type AttentionResult } from '@glassformer/element';

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
  await Classifier.load({ 'config.json': new Blob(), '1_Pooling/config.json': new Uint8Array() });
  const narrow: Embedder = await load('x', { task: 'feature-extraction' });
  narrow.dispose();
  // @ts-expect-error: the class of another task
  const wrong: Embedder = await load('x', { task: 'translation' });
  wrong.dispose();
  const any: Model = await load('hf:owner/name', {
    hubUrl: 'https://hub.example.org',
    urls: { 'model-00001-of-00002.safetensors': 'https://example.org/weights' },
  });
  const found: Inspection = await inspect(files, { signal });
  console.log(found.problem?.code, found.info?.layers, found.family, found.tensors[0]?.dtype);
  const architecture: Architecture = any.architecture;
  const layer: LayerArchitecture | undefined = architecture.decoder?.layers[0];
  const parameters: WeightInfo[] = await any.weights.list();
  const row: Float32Array = await any.weights.row(parameters[0]!.name, 0);
  console.log(layer?.nHeads, row.length);
  await load('x', { untrained: 7 });
  const pieces: string[] = await any.vocabulary();
  console.log(pieces[0]);
  if (any.task === 'translation') await any.translate('a');
  if (any instanceof Translator) await any.translate('a');
  else if (any instanceof QuestionAnswerer) await any.answer('a', 'b');
  else if (any instanceof MaskFiller) await any.fill('a');
  else if (any instanceof Embedder) await any.embed('a');
  else if (any instanceof Generator) await any.generate('a');
  else if (any instanceof TokenClassifier) await any.classify('a');
  else if (any instanceof ImageClassifier) {
    const data = new Uint8Array(1);
    const { label, grid } = await any.classify({ width: 1, height: 1, data });
    console.log(label, grid.rows);
  } else if (any instanceof ZeroShotImageClassifier) {
    const data = new Uint8Array(1);
    const match = await any.classify({ width: 1, height: 1, data }, ['a', 'b']);
    const { embedding }: { embedding: Float32Array } = await any.embedText('a');
    console.log(match.label, embedding.length);
    // @ts-expect-error: attention was not asked for
    console.log(match.attention.encoder);
    const lens = await any.explain({ width: 1, height: 1, data }, ['a', 'b'], {
      method: 'lens',
      hypothesisTemplate: '{}',
    });
    console.log(lens.tokenLogits.shape, lens.grid.rows);
    // @ts-expect-error: of texts only
    await any.explain({ width: 1, height: 1, data }, ['a'], { method: 'activation_patching' });
  } else await any.classify({ text: 'a', pair: 'b' });
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
  const probability: number = result.scores[0]?.score ?? 0;
  // Requested fields exist; a plain Classification may have them.
  const known = await classifier.classify('a', { attention: true, contributions: true });
  const certain: number = known.attention.encoder.heads + (known.contributions[0]?.length ?? 0);
  const partly = await classifier.classify('a', { attention: true });
  const perhaps: Float32Array[] | undefined = partly.contributions;
  const [first] = await classifier.classifyBatch(['a'], { contributions: true, signal });
  const part: Float32Array | undefined = first?.contributions[0];
  const map: AttentionMap | undefined = result.attention?.encoder;
  const rebuilt: AttentionMap = new AttentionMap(structuredClone(partly.attention.encoder));
  console.log(certain, perhaps, part, rebuilt.at(0, 0));
  const head: Float32Array | undefined = map?.at(0, 0);
  const many: Classification[] = await classifier.classifyBatch(['a', 'b'] as const);
  const wanted: boolean | undefined = undefined;
  const options: ClassifyOptions = { attention: wanted };
  const unknown = await classifier.classify('a', options);
  const element: JSX.IntrinsicElements['glassformer-attention'] = {
    result: partly,
    layer: 1,
    id: 'a',
  };
  console.log(element);
  // @ts-expect-error: it is unknown what was requested
  unknown.attention.encoder;
  // @ts-expect-error: the same here
  (await classifier.classify('a', { attention: wanted })).attention.encoder;
  const maybe: { attention?: true } = {};
  // @ts-expect-error: and here
  (await classifier.classify('a', maybe)).attention.encoder;
  // @ts-expect-error: something else was requested
  partly.contributions[0];
  const seen: Classification<{ attention: true }> = await classify(classifier, { attention: true });
  console.log(seen.attention.encoder);
  console.log(common, tokens, probability, head, many, options);

  for await (const { index, result, error } of classifier.classifyEach(lines(), {
    attention: true,
    signal,
  })) {
    if (error) console.log(index, error.code);
    else console.log(index, result.label, result.attention.encoder.at(0, 0));
  }
  const outcomes: Outcome<Classification>[] = [];
  const list: Texts = ['a', 'b'] as const;
  for await (const outcome of classifier.classifyEach(list)) {
    outcomes.push(outcome);
    // @ts-expect-error: there may be an error in its place
    outcome.result.label;
  }

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
  await classifier.classify('a', { ablate: [{ attention: 'self', layer: 0, head: 0 }] });
  // @ts-expect-error: an unknown option with a known one
  await classifier.classify('a', { attention: true, ablates: [] });
  // @ts-expect-error: texts, not one text's characters
  classifier.classifyEach(7);
  // @ts-expect-error: not a text
  await classifier.classify(7);
  // @ts-expect-error: unknown arithmetic
  await Classifier.load('x', { compute: 'f16' });
  // @ts-expect-error: a text is not a file
  await Classifier.load({ 'config.json': '{}' });
  // @ts-expect-error: attention exists only if requested
  result.attention.encoder;
  // @ts-expect-error: made by load only
  new Classifier();
  // @ts-expect-error: read-only
  classifier.info = info;
}

// A function of one's own whose result depends on the options, as the methods' results do.
function classify<Options extends ClassifyOptions = {}>(
  classifier: Classifier,
  options?: Given<ClassifyOptions, Options>,
): Promise<Classification<Options>> {
  return classifier.classify<Options>('a', options);
}

async function* lines(): AsyncGenerator<string> {
  yield 'a';
}

export async function explainNext(): Promise<void> {
  using generator: Generator = await Generator.load('x', { explain: true });
  const attribution = await generator.explain('a', {
    method: 'direct_logit_attribution',
    token: 3,
    effects: true,
  });
  const ahead: [string, string, number] = [
    attribution.token.text,
    attribution.against.text,
    attribution.value,
  ];
  const { layers } = await generator.explain('a', { method: 'lens', words: 2 });
  console.log(ahead, layers[0]?.[0]?.[0]?.logprob, attribution.read.data.length);
  const { edges, curve } = await generator.explain(
    { text: 'a', pair: 'b' },
    { method: 'circuit', metric: 'divergence', cutEdges: ['a>b'] },
  );
  const zeroed = await generator.explain('a', { method: 'value_zeroing' });
  console.log(zeroed.token.text, zeroed.rollout.shape, zeroed.layers.shape);
  console.log(edges[0]?.from, edges[0]?.score, curve[0]?.faithfulness);
  await generator.loadDictionaries('y');
  const { dictionaries } = await generator.explain('a', { method: 'features' });
  const graph = await generator.explain('a', { method: 'attribution_graph', featureCount: 9 });
  console.log(dictionaries[0]?.rows[0]?.[0]?.activation, graph.nodes[0]?.influence);
  // @ts-expect-error: a classifier's method
  await generator.explain('a', { method: 'edges' });
}

export async function explainByGradients(): Promise<void> {
  using classifier: Classifier = await Classifier.load('x', { gradients: true, compute: 'f32' });
  const steps = await classifier.explain('a', { method: 'integrated_gradients', label: 'b' });
  const ends: [number, number, number] = [steps.value, steps.baseline, steps.gap];
  const input: number[] = (await classifier.explain('a', { method: 'gradient_times_input' }))
    .scores;
  const { relevance } = await classifier.explain('a', { method: 'relevance' });
  await classifier.explain('a', { method: 'faithfulness', of: 'relevance' });
  await classifier.explain(
    { text: 'a', pair: 'b' },
    {
      method: 'activation_patching',
      onProgress: ({ done, delta }) => console.log(done, delta.data[0]),
    },
  );
  using translator: Translator = await Translator.load('x', { gradients: true });
  const names = ['encoder.embed_tokens'];
  const slopes = await translator.explain('a', { method: 'gradients', names, position: 2 });
  const ofSource: TracedTensor | undefined = slopes.gradients['encoder.embed_tokens'];
  using generator: Generator = await Generator.load('x', { gradients: true });
  const ahead = await generator.explain('a', { method: 'relevance', token: 1, against: 2 });
  console.log(ofSource?.shape, slopes.token.text, ahead.scores, ahead.against.id);
  const patched = await translator.explain(
    { text: 'a', pair: 'b' },
    {
      method: 'activation_patching',
      beams: 2,
      onProgress: ({ done, token }) => console.log(done, token?.text),
    },
  );
  console.log(patched.prefix, patched.against?.id, patched.donorTokens.length);
  // @ts-expect-error: residuals only
  await generator.explain('a', { method: 'activation_patching', site: 'head' });
  // @ts-expect-error: names of tensors are missing
  await generator.explain('a', { method: 'gradients' });
  // @ts-expect-error: a text that is continued has no sentences
  await generator.explain('a', { method: 'relevance', sentence: 1 });
  // @ts-expect-error: only activation patching shows progress
  await classifier.explain('a', { method: 'relevance', onProgress() {} });
  console.log(ends, input, relevance.data.length);
  await TokenClassifier.load('x', { gradients: true });
  await QuestionAnswerer.load('x', { gradients: true });
  await load('x', { gradients: true, explain: true });
  // @ts-expect-error: a vector has no gradients
  await Embedder.load('x', { gradients: true });
  // @ts-expect-error: the method has no such option
  await classifier.explain('a', { method: 'relevance', orders: 3 });
}

export async function useOthers(signal: AbortSignal): Promise<void> {
  using classifier: Classifier = await Classifier.load('x');
  const pair: TextPair = { text: 'a', pair: 'b' };
  const [both] = await classifier.classifyBatch([pair, 'a'] as const, { attention: true });
  const sequence: 0 | 1 | undefined = both?.tokens[0]?.sequence;
  for await (const { result } of classifier.classifyEach([pair])) console.log(result?.label);
  // @ts-expect-error: the second text is missing
  await classifier.classify({ text: 'a' });

  const tagger: TokenClassifier = await TokenClassifier.load('x', { signal, compute: 'int8' });
  const aggregation: Aggregation = 'simple';
  const ignoreLabels = ['O', 'MISC'] as const;
  const options = { aggregation, ignoreLabels, attention: true, maskTokens: [1], signal } as const;
  const found = await tagger.classify('a', options);
  const entity: Entity | undefined = found.entities[0];
  const index: number | undefined = entity?.index;
  const plain: TokenClassification = (await tagger.classifyBatch(['a']))[0]!;
  console.log(tagger.info.labels, found.attention.encoder.heads, plain.tokens, index, sequence);
  const whole = await tagger.classify('a', { window: 'all', stride: 64 });
  const mean = await classifier.classify('a', { window: 'mean', stride: 0 });
  console.log(whole.windows + mean.windows);
  // @ts-expect-error: entities have no mean
  await tagger.classify('a', { window: 'mean' });
  for await (const { result } of tagger.classifyEach(['a'], { ablate: [] })) {
    console.log(result?.entities.length, result?.clipped);
  }
  // @ts-expect-error: no such aggregation
  await tagger.classify('a', { aggregation: 'mean' });
  // @ts-expect-error: attention was not requested
  plain.attention.encoder;
  // @ts-expect-error: entities have no label probabilities
  await tagger.classify('a', { contributions: true });
  // @ts-expect-error: one text at a time
  await tagger.classify(pair);

  const answerer: QuestionAnswerer = await QuestionAnswerer.load(new URL('https://example.org/'));
  const asked: Question = { question: 'a', context: 'b' };
  const windows = { maxSeqLen: 384, docStride: 128, maxAnswerLen: 15 };
  const answer: Answer<{ attention: true }> = await answerer.answer('a', 'b', {
    ...windows,
    handleImpossibleAnswer: true,
    attention: true,
    ablate: [{ attention: 'encoder', layer: 0, head: 0 }],
    signal,
  });
  const text: string = answer.answer;
  console.log(text, answer.score, answer.start, answer.end, answer.attention.encoder.keys);
  const answers: Answer[] = await answerer.answerBatch([asked] as const, windows);
  for await (const { result } of answerer.answerEach([asked])) console.log(result?.answer, answers);
  // @ts-expect-error: a question needs a context
  await answerer.answer('a');
  // @ts-expect-error: positions in windows have no meaning for the caller
  await answerer.answer('a', 'b', { maskTokens: [1] });
  // @ts-expect-error: texts are not questions
  await answerer.answerBatch(['a']);

  const embedder: Embedder = await Embedder.load('hf:a/b');
  const info: EmbedderInfo = embedder.info;
  const poolings: Pooling[] = info.poolings;
  const first: Embedding = await embedder.embed('a', {
    pooling: ['mean', 'cls'],
    normalize: false,
  });
  const [second] = await embedder.embedBatch(['a'], { pooling: 'max', attention: true, signal });
  const vector: Float32Array = first.embedding;
  const alike: number = embedder.similarity(vector, [1, 2]);
  console.log(poolings, info.normalize, alike, second?.attention.encoder.layers);
  for await (const { result } of embedder.embedEach(lines())) console.log(result?.embedding[0]);
  // @ts-expect-error: no such pooling
  await embedder.embed('a', { pooling: 'first' });
  // @ts-expect-error: vectors, not texts
  embedder.similarity('a', 'b');
  // @ts-expect-error: made by load only
  new Embedder();
  for (const model of [tagger, answerer, embedder]) model.dispose();
}

export async function useTraces(signal: AbortSignal): Promise<void> {
  using classifier: Classifier = await Classifier.load('x');
  const names = ['encoder.layers.*.output', 'logits'] as const;
  const seen = await classifier.classify('a', { trace: names, signal });
  const tensor: TracedTensor | undefined = seen.trace['logits'];
  const data: Float32Array = tensor?.data ?? new Float32Array();
  const shape: number[] = seen.trace['logits']!.shape;
  const patch: Patch[] = [
    { name: 'encoder.layers.0.output', tokens: [1], value: tensor! },
    { name: 'encoder.layers.0.self_attn.scores', heads: [0], keys: [2], value: -Infinity },
    { name: 'pooled', value: data },
    { name: 'pooled', value: { shape: [data.length] as const, data } },
  ];
  const [both] = await classifier.classifyBatch(['a'], {
    patch,
    attention: true,
    trace: ['pooled'],
  });
  console.log(shape, both?.attention.encoder.keys, both?.trace['pooled']?.shape);
  for await (const { result } of classifier.classifyEach(['a'], { trace: names, patch })) {
    console.log(result?.trace['logits']?.data[0]);
  }
  const perhaps: Classification = seen;
  // @ts-expect-error: it is unknown what was requested
  perhaps.trace['logits'];
  const wanted: string[] | undefined = signal.aborted ? ['logits'] : undefined;
  // @ts-expect-error: the same here
  (await classifier.classify('a', { trace: wanted })).trace['logits'];
  // @ts-expect-error: nothing was requested
  (await classifier.classify('a', { patch })).trace['logits'];
  // @ts-expect-error: names, not one of them
  await classifier.classify('a', { trace: 'logits' });
  // @ts-expect-error: a patch needs a value
  await classifier.classify('a', { patch: [{ name: 'pooled' }] });
  // @ts-expect-error: gradients were not requested
  seen.gradients['logits'];
  const sloped = await classifier.classify('a', { gradients: names, trace: names });
  const slopes: Record<string, TracedTensor> = sloped.gradients;
  const unsure: Classification = sloped;
  // @ts-expect-error: it is unknown what was requested
  unsure.gradients['logits'];
  // @ts-expect-error: names, not one of them
  await classifier.classify('a', { gradients: 'logits' });
  // @ts-expect-error: only models that label tokens have one
  await classifier.classify('a', { gradients: names, gradientToken: 1 });
  console.log(slopes['logits']?.shape, sloped.trace['logits']?.shape);
  // @ts-expect-error: a list of numbers is not a tensor
  await classifier.classify('a', { patch: [{ name: 'pooled', value: [1, 2] }] });
  // @ts-expect-error: rows are chosen by tokens
  await classifier.classify('a', { patch: [{ name: 'pooled', rows: [1], value: 0 }] });
  const wrong = { name: 'pooled', value: 0 };
  // @ts-expect-error: the same beside an option that changes the result
  await classifier.classify('a', { trace: names, patch: [{ ...wrong, rows: [1] }] });

  using tagger: TokenClassifier = await TokenClassifier.load('x');
  console.log((await tagger.classify('a', { trace: names, patch })).trace['logits']?.shape);
  const tagged = await tagger.classify('a', { gradients: names, gradientToken: 1 });
  console.log(tagged.gradients['logits']?.data[0]);
  using filler: MaskFiller = await MaskFiller.load('x', { gradients: true });
  const filled = await filler.fill('a [MASK]', { topK: 3, targets: ['b'], gradients: names });
  console.log(filled.masks[0]?.answers[0]?.sequence, filler.info.maskToken);
  using answerer: QuestionAnswerer = await QuestionAnswerer.load('x');
  const [answer] = await answerer.answerBatch([{ question: 'a', context: 'b' }], { trace: names });
  console.log(answer?.trace['logits']?.shape);
  console.log((await answerer.answer('a', 'b', { gradients: names })).gradients['logits']?.shape);
  using embedder: Embedder = await Embedder.load('x');
  console.log((await embedder.embed('a', { trace: names, patch })).trace['logits']?.shape);
  using translator: Translator = await Translator.load('x');
  const options = { trace: names, hypotheses: true, patch } as const;
  const [sentence] = (await translator.translate('a', options)).sentences;
  console.log(sentence?.trace['logits']?.shape, sentence?.tree.length);
  for await (const step of translator.stream('a', { trace: names })) {
    if (step.done) console.log(step.result.sentences[0]?.trace['logits']?.shape);
  }
  const plain: Translation = await translator.translate('a', options);
  // @ts-expect-error: it is unknown what was requested
  plain.sentences[0]?.trace['logits'];
}

export async function useGenerator(signal: AbortSignal): Promise<void> {
  const generator: Generator = await Generator.load('hf:a/b', { compute: 'int8' });
  const info: ModelInfo = generator.info;
  const plain: Generation = await generator.generate('a', { maxNewTokens: 5, seed: 1, topK: 3 });
  const made: GeneratorInfo = generator.info;
  const [name = made.prefix] = Object.keys(made.tasks);
  await generator.next('a', { task: name, prefix: false });
  const seen = await generator.generate('a', { beams: 2, attention: true, hypotheses: true });
  const weights: AttentionMap = seen.attention.decoder;
  const others: Hypothesis[] = seen.hypotheses;
  const { next } = await generator.next('a', { count: 3, temperature: 0.5, signal });
  const tokens: NextToken[] = next;
  for await (const step of generator.stream('a', { topP: 0.9, signal })) {
    const any: GenerationStep = step;
    if (step.done) console.log(step.result.tokens, any.text);
    else console.log(step.token.logprob, step.promptTokens.length);
  }
  for await (const { result } of generator.generateEach(['a'])) console.log(result?.ended);
  const [first] = await generator.generateBatch(['a'] as const);
  console.log(info, plain.score, weights, others, tokens, first?.attention?.decoder.queries);
  // @ts-expect-error: a stream has no beams
  generator.stream('a', { beams: 2 });
  await generator.generate('a', { ablate: [{ attention: 'encoder', layer: 0, head: 0 }] });
  // @ts-expect-error: no such attention
  await generator.generate('a', { ablate: [{ attention: 'self', layer: 0, head: 0 }] });
  // @ts-expect-error: made by load only
  new Generator();
  generator.dispose();
}

export async function useView(classifier: Classifier, translator: Translator): Promise<void> {
  const view: AttentionView = document.createElement('glassformer-attention');
  view.result = await classifier.classify('a', { attention: true });
  view.result = await translator.translate('a', { attention: true });
  const perhaps: Classification = await classifier.classify('a');
  view.result = perhaps; // throws without attention
  view.result = '{}';
  const encoder = { layers: 1, heads: 1, queries: 1, keys: 1, data: [1] };
  const own: AttentionResult = { tokens: [{ text: 'a' }], attention: { encoder } };
  view.result = own;
  view.result = undefined;
  const kind: AttentionKind = view.attention;
  view.layer = view.head + view.sentence + (view.cell?.weight ?? 0);
  console.log(kind, new AttentionView());
  // @ts-expect-error: no such attention
  view.attention = 'self';
  // @ts-expect-error: weights have a shape
  view.result = { tokens: [], attention: { encoder: { data: [1] } } };
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

  const asked = await translator.translate('a', {
    alignment: { layer: 0 },
    hypotheses: true,
    ablate: [{ attention: 'cross', layer: 0, head: 2 }],
  });
  const link: AlignmentLink | undefined = asked.sentences[0]?.alignment[0];
  const candidate: Candidate | undefined = asked.sentences[0]?.tree[0];
  // @ts-expect-error: attention was not requested
  asked.sentences[0]?.attention.cross;
  const [inspected] = (await translator.translate('a', { attention: true })).sentences;
  console.log(link, candidate, inspected?.attention.cross.keys, inspected?.alignment[0]);
  for await (const { result, error } of translator.translateEach(['a'], { attention: true })) {
    console.log(error?.message, result?.sentences[0]?.attention.decoder?.keys);
  }

  for await (const step of translator.stream('How are you?', { attention: true, signal })) {
    const general: TranslationStep = step;
    if (step.done) {
      const last: LastStep = step;
      console.log(last.result.score, step.result.sentences[0]?.attention.cross.keys);
    } else {
      const one: TokenStep = step;
      const { token, attention } = step;
      const piece: OutputToken = token;
      console.log(piece.logprob, attention.decoder?.keys, one.sentence.sourceTokens);
    }
    console.log(general.text.length);
    // @ts-expect-error: the last step has no token
    step.token;
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
  // @ts-expect-error: a list of bytes is not allowed
  await Translator.load({ ...weights, 'source.model': [1, 2] });
  // @ts-expect-error: alignment exists only if requested
  result.sentences[0]?.alignment.length;
  // @ts-expect-error: made by load only
  new Translator();
}

export async function summarize(): Promise<void> {
  using summarizer: Summarizer = await load('x', { task: 'summarization' });
  const task: 'summarization' = summarizer.task;
  const { text, hypotheses } = await summarizer.summarize('a', { beams: 2, hypotheses: true });
  console.log(task, text.length, hypotheses[0]?.score);
  for await (const step of summarizer.stream('a')) console.log(step.text);
  // @ts-expect-error: a stream has no beams
  summarizer.stream('a', { beams: 2 });
  const any = await load('x');
  // @ts-expect-error: no folder names the task as its own
  console.log(any.task === 'summarization');
}
