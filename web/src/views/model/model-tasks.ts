/** The input and the call of a model for each task. */
import type {
  Answer,
  Classification,
  Classifier,
  Embedder,
  FilledText,
  Generation,
  Generator,
  Head,
  LanguagePair,
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
import { shifted, type TextAttention } from '../../panels/attention/text-attention.ts';
import type { AttentionKind } from '../../panels/heads/position.ts';
import { alignmentOf, type Alignment } from '../../panels/alignment/alignment.ts';
import type { Trace } from '../../panels/attention/query-key.ts';
import { shownTokens } from '../../panels/words/tokens.ts';

export interface Input {
  first: string;
  second: string;
}

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
export interface Outcome {
  input: Input;
  answered: Answered;
  texts: readonly TextAttention[];
}

export type TaskName = Answered['task'];

/** The search settings of a translator. */
export interface Search extends LanguagePair {
  /** 0 uses the model's own setting. */
  beams: number;
  /** Per sentence, the tokens that its translation must start with. */
  forced: readonly (readonly number[])[];
}

interface Options {
  ablate: readonly Head<AttentionKind>[];
  search: Search;
  signal: AbortSignal;
  /** The names of tensors to trace. */
  trace?: readonly string[];
}

interface Task {
  /** The predicate of “This model …”. */
  name: string;
  /** The label of the first box. */
  first: string;
  /** The label of the second box, if there is one. */
  second?: string;
  /** Whether the second box must be filled in. */
  needsSecond?: boolean;
  /** Returns the JavaScript call of the model's method. */
  call: (input: Input, search: Search) => string;
  ask: (model: Model, input: Input, options: Options) => Promise<Omit<Outcome, 'input'>>;
}

/** The tasks of models that read pictures; see picture.svelte.ts. */
export const ofPictures = {
  'image-classification': { name: 'classifies pictures' },
  'zero-shot-image-classification': { name: 'compares pictures with texts' },
};

/** The label of the token that a decoder begins with. */
const begun = '‹start›';

/** The most tokens that a model writes per call. */
export const mostWritten = 40;

const literal = (text: string) => JSON.stringify(text);

/** Returns the lines that are not blank. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const tasks: Record<TaskName, Task> = {
  'text-classification': {
    name: 'classifies texts',
    first: 'Text',
    second: 'Second text, for a model that compares two',
    call: ({ first, second }) =>
      second.trim()
        ? `classify({ text: ${literal(first)}, pair: ${literal(second)} }, options)`
        : `classify(${literal(first)}, options)`,
    async ask(model, { first, second }, options) {
      const input = second.trim() ? { text: first, pair: second } : first;
      const result = await (model as Classifier).classify(input, encoderOptions(options));
      const answered = { task: 'text-classification', result } as const;
      return { answered, texts: [reading(result, [first, second])] };
    },
  },
  'token-classification': {
    name: 'finds names and other entities',
    first: 'Text',
    call: ({ first }) => `classify(${literal(first)}, { ...options, aggregation: 'simple' })`,
    async ask(model, { first }, options) {
      const how = { aggregation: 'simple', window: 'first' } as const;
      const all = { ...encoderOptions(options), ...how };
      const result = await (model as TokenClassifier).classify(first, all);
      const answered = { task: 'token-classification', text: first, result } as const;
      return { answered, texts: [reading(result, [first])] };
    },
  },
  'question-answering': {
    name: 'answers questions from a text',
    first: 'Question',
    second: 'Text that has the answer',
    needsSecond: true,
    call: ({ first, second }) => `answer(${literal(first)}, ${literal(second)}, options)`,
    async ask(model, { first, second }, options) {
      const result = await (model as QuestionAnswerer).answer(
        first,
        second,
        encoderOptions(options),
      );
      const answered = { task: 'question-answering', context: second, result } as const;
      return { answered, texts: [reading(result, [first, second])] };
    },
  },
  'fill-mask': {
    name: 'says which words may stand at a mask',
    first: 'Text, with [MASK] for each hidden word',
    call: ({ first }) => `fill(${literal(first)}, options)`,
    async ask(model, { first }, options) {
      const filler = model as MaskFiller;
      const text = first.replaceAll('[MASK]', filler.info.maskToken);
      const result = await filler.fill(text, encoderOptions(options));
      const answered = { task: 'fill-mask', text, result } as const;
      return { answered, texts: [reading(result, [text])] };
    },
  },
  'feature-extraction': {
    name: 'compares sentences',
    first: 'Sentences, one per line',
    call: ({ first }) =>
      `embedBatch([${linesOf(first)
        .map((line) => literal(line))
        .join(', ')}], options)`,
    async ask(model, { first }, options) {
      const embedder = model as Embedder;
      const texts = linesOf(first);
      const results = await embedder.embedBatch(texts, encoderOptions(options));
      const similarity = results.map(({ embedding }) =>
        results.map((other) => embedder.similarity(embedding, other.embedding)),
      );
      const answered = { task: 'feature-extraction', texts, similarity } as const;
      return { answered, texts: results.map((result, i) => reading(result, [texts[i]!])) };
    },
  },
  translation: {
    name: 'translates',
    first: 'Text',
    call: ({ first }, { from, to, beams, forced }) => {
      const options = ['...options', 'hypotheses: true'];
      if (from) options.push(`from: ${literal(from)}`);
      if (to) options.push(`to: ${literal(to)}`);
      if (beams > 0) options.push(`beams: ${beams}`);
      if (forced.length > 0) options.push(`prefixes: ${JSON.stringify(forced)}`);
      return `translate(${literal(first)}, { ${options.join(', ')} })`;
    },
    async ask(model, { first }, { ablate, search, signal, trace = [] }) {
      const result = await (model as Translator).translate(first, {
        attention: true as const,
        hypotheses: true,
        ablate,
        signal,
        trace,
        from: search.from,
        to: search.to,
        beams: search.beams || undefined,
        prefixes: search.forced,
      });
      const labels = (text: string, tokens: readonly Token[]) =>
        shownTokens(text, tokens).map(({ label }) => label);
      const texts = result.sentences.map(({ attention, sourceTokens, tokens, trace: traced }) => ({
        maps: attention,
        trace: traced,
        source: labels(first, sourceTokens),
        target: labels(result.text, tokens),
        start: begun,
      }));
      const alignment = alignmentOf(first, result);
      return { answered: { task: 'translation', text: first, result, alignment }, texts };
    },
  },
  'text-generation': {
    name: 'continues texts',
    first: 'Beginning',
    call: ({ first }) =>
      `generate(${literal(first)}, { ...options, maxNewTokens: ${mostWritten} })`,
    async ask(model, { first }, { ablate, signal, trace = [] }) {
      const result = await (model as Generator).generate(first, {
        attention: true as const,
        maxNewTokens: mostWritten,
        signal,
        trace,
        ablate: ofKind(ablate, 'decoder'),
      });
      const { promptTokens, tokens, attention, trace: traced } = result;
      const labels = [...shownTokens(first, promptTokens), ...shownTokens(result.text, tokens)];
      // The model did not read the last token that it wrote.
      const source = labels.slice(0, attention.decoder.queries).map(({ label }) => label);
      const answered = { task: 'text-generation', text: first, result } as const;
      return { answered, texts: [{ maps: attention, source, trace: traced }] };
    },
  },
  // The input is the whole conversation, as the model's template writes it.
  chat: {
    name: 'has conversations, and continues texts',
    first: 'Message',
    call: () => `send('Why is the sky blue?', options)`,
    async ask(model, { first }, { ablate, signal, trace = [] }) {
      const result = await (model as Generator).next(first, {
        attention: true as const,
        specialTokens: false,
        count: 1,
        signal,
        trace,
        ablate: ofKind(ablate, 'decoder'),
      });
      const { promptTokens, attention: maps, trace: traced } = result;
      const source = shownTokens(first, promptTokens).map(({ label }) => label);
      const answered = { task: 'chat', result } as const;
      return { answered, texts: [{ maps, source, trace: traced }] };
    },
  },
  'text2text-generation': {
    name: 'answers a text with a text',
    first: 'Text, after its instruction if the model needs one',
    call: ({ first }) =>
      `generate(${literal(first)}, { ...options, maxNewTokens: ${mostWritten} })`,
    async ask(model, { first }, { ablate, signal, trace = [] }) {
      const result = await (model as Generator).generate(first, {
        attention: true as const,
        maxNewTokens: mostWritten,
        ablate,
        signal,
        trace,
      });
      const { promptTokens, tokens, attention: maps, trace: traced } = result;
      const labels = (text: string, of: readonly Token[]) =>
        shownTokens(text, of).map(({ label }) => label);
      const read = {
        maps,
        trace: traced,
        source: labels(first, promptTokens),
        target: labels(result.text, tokens),
        start: begun,
      };
      return { answered: { task: 'text2text-generation', result }, texts: [read] };
    },
  },
};

/** The tasks of encoder-decoder models, which have cross-attention. */
const crossing: readonly string[] = ['translation', 'text2text-generation'] satisfies TaskName[];
export const crosses = (task: string | undefined): boolean =>
  task !== undefined && crossing.includes(task);

export const isTask = (task: string): task is TaskName => Object.hasOwn(tasks, task);

/** Returns the heads of one kind of attention. */
export function ofKind<Kind extends AttentionKind>(
  heads: readonly Head<AttentionKind>[],
  kind: Kind,
): Head<Kind>[] {
  return heads.filter((head): head is Head<Kind> => head.attention === kind);
}

const encoderOptions = ({ ablate, signal, trace = [] }: Options) => ({
  attention: true as const,
  signal,
  trace,
  ablate,
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
