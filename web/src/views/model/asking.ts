/** Asks a model for its answer and its attention, for each task. */
import type {
  Answer,
  Classification,
  Classifier,
  Embedder,
  FilledText,
  Generation,
  Generator,
  Head,
  MaskFiller,
  Model,
  Prediction,
  QuestionAnswerer,
  Token,
  TokenClassification,
  TokenClassifier,
  Translation,
  Translator,
} from 'glassformer';
import {
  mostWritten,
  linesOf,
  type Input,
  type Search,
  type TaskName,
} from '../../models/tasks/tasks.ts';
import { labelsIn, shifted, type TextAttention } from '../../panels/attention/text-attention.ts';
import type { AttentionKind } from '../../panels/heads/position.ts';
import { alignmentOf, type Alignment } from '../../panels/alignment/alignment.ts';
import type { Trace } from '../../panels/attention/query-key.ts';
import { shownTokens } from '../../panels/words/tokens.ts';

export type Answered =
  | { task: 'text-classification'; result: Classification }
  | { task: 'token-classification'; text: string; result: TokenClassification }
  | { task: 'question-answering'; context: string; result: Answer }
  | { task: 'fill-mask'; text: string; result: FilledText }
  | { task: 'feature-extraction'; texts: readonly string[]; similarity: readonly number[][] }
  | { task: 'translation'; text: string; result: Translation; alignment: Alignment }
  | { task: 'text-generation'; text: string; result: Generation }
  | { task: 'chat'; result: Prediction }
  | { task: 'text2text-generation'; result: Generation };

/** An answer with its texts or sentences, in order. */
export interface AnswerOutcome {
  input: Input;
  answered: Answered;
  texts: readonly TextAttention[];
}

interface Options {
  ablate: readonly Head<AttentionKind>[];
  search: Search;
  signal: AbortSignal;
  /** The names of tensors to trace. */
  trace?: readonly string[];
}

type Ask = (model: Model, input: Input, options: Options) => Promise<Omit<AnswerOutcome, 'input'>>;

/** The label of the token that a decoder begins with. */
const begun = '‹start›';

export const asking: Record<TaskName, Ask> = {
  async 'text-classification'(model, { first, second }, options) {
    const input = second.trim() ? { text: first, pair: second } : first;
    const result = await (model as Classifier).classify(input, shared(options));
    const answered = { task: 'text-classification', result } as const;
    return { answered, texts: [reading(result, [first, second])] };
  },
  async 'token-classification'(model, { first }, options) {
    const how = { aggregation: 'simple', window: 'first' } as const;
    const all = { ...shared(options), ...how };
    const result = await (model as TokenClassifier).classify(first, all);
    const answered = { task: 'token-classification', text: first, result } as const;
    return { answered, texts: [reading(result, [first])] };
  },
  async 'question-answering'(model, { first, second }, options) {
    const result = await (model as QuestionAnswerer).answer(first, second, shared(options));
    const answered = { task: 'question-answering', context: second, result } as const;
    return { answered, texts: [reading(result, [first, second])] };
  },
  async 'fill-mask'(model, { first }, options) {
    const filler = model as MaskFiller;
    const text = first.replaceAll('[MASK]', filler.info.maskToken);
    const result = await filler.fill(text, shared(options));
    const answered = { task: 'fill-mask', text, result } as const;
    return { answered, texts: [reading(result, [text])] };
  },
  async 'feature-extraction'(model, { first }, options) {
    const embedder = model as Embedder;
    const texts = linesOf(first);
    const results = await embedder.embedBatch(texts, shared(options));
    const similarity = results.map(({ embedding }) =>
      results.map((other) => embedder.similarity(embedding, other.embedding)),
    );
    const answered = { task: 'feature-extraction', texts, similarity } as const;
    return { answered, texts: results.map((result, i) => reading(result, [texts[i]!])) };
  },
  async translation(model, { first }, options) {
    const { search } = options;
    const result = await (model as Translator).translate(first, {
      ...shared(options),
      hypotheses: true,
      from: search.from,
      to: search.to,
      beams: search.beams || undefined,
      prefixes: search.forced,
    });
    const texts = result.sentences.map(({ attention, sourceTokens, tokens, trace: traced }) => ({
      maps: attention,
      trace: traced,
      source: labelsIn(first, sourceTokens),
      target: labelsIn(result.text, tokens),
      start: begun,
    }));
    const alignment = alignmentOf(first, result);
    return { answered: { task: 'translation', text: first, result, alignment }, texts };
  },
  async 'text-generation'(model, { first }, options) {
    const asked = { ...forDecoder(options), maxNewTokens: mostWritten };
    const result = await (model as Generator).generate(first, asked);
    const { promptTokens, tokens, attention: maps, trace } = result;
    const labels = [...labelsIn(first, promptTokens), ...labelsIn(result.text, tokens)];
    // The model did not read the last token that it wrote.
    const source = labels.slice(0, maps.decoder.queries);
    const answered = { task: 'text-generation', text: first, result } as const;
    return { answered, texts: [{ maps, source, trace }] };
  },
  // The input is the whole conversation, as the model's template writes it.
  async chat(model, { first }, options) {
    const asked = { ...forDecoder(options), specialTokens: false, count: 1 };
    const result = await (model as Generator).next(first, asked);
    const { promptTokens, attention: maps, trace } = result;
    const source = labelsIn(first, promptTokens);
    return { answered: { task: 'chat', result }, texts: [{ maps, source, trace }] };
  },
  async 'text2text-generation'(model, { first }, options) {
    const asked = { ...shared(options), maxNewTokens: mostWritten };
    const result = await (model as Generator).generate(first, asked);
    const { promptTokens, tokens, attention: maps, trace } = result;
    const source = labelsIn(first, promptTokens);
    const target = labelsIn(result.text, tokens);
    const read = { maps, source, target, start: begun, trace };
    return { answered: { task: 'text2text-generation', result }, texts: [read] };
  },
};

/** Returns the heads of one kind of attention. */
export function ofKind<Kind extends AttentionKind>(
  heads: readonly Head<AttentionKind>[],
  kind: Kind,
): Head<Kind>[] {
  return heads.filter((head): head is Head<Kind> => head.attention === kind);
}

/** Returns the options that all methods have. */
const shared = ({ ablate, signal, trace = [] }: Options) => ({
  attention: true as const,
  signal,
  trace,
  ablate,
});

/** Returns the same for a model that has only a decoder. */
const forDecoder = (options: Options) => ({
  ...shared(options),
  ablate: ofKind(options.ablate, 'decoder'),
});

/** Returns the tokens of one or two texts that an encoder has read, with its attention. */
function reading(
  { tokens, attention, trace }: { tokens: Token[]; attention: TextAttention['maps']; trace: Trace },
  texts: readonly string[],
): TextAttention {
  const own = texts.map((text, i) =>
    shownTokens(
      text,
      tokens.filter(({ sequence = 0 }) => sequence === i),
    ),
  );
  const next = own.map(() => 0);
  const source = tokens.map(({ sequence = 0 }) => own[sequence]![next[sequence]!++]!.label);
  return {
    maps: attention,
    source,
    trace,
    ...(attention.decoder && { target: shifted(begun, source) }),
  };
}
