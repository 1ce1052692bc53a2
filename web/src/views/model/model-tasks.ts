/** What a model of each task is given, and what it makes of that. */
import type {
  Answer,
  AttentionMap,
  Classification,
  Classifier,
  Embedder,
  Generation,
  Generator,
  Head,
  Model,
  QuestionAnswerer,
  Token,
  TokenClassification,
  TokenClassifier,
  Translation,
  Translator,
} from 'glassformer';
import type { AttentionKind } from '../../panels/heads/position.ts';
import { alignmentOf, type Alignment } from '../../panels/alignment/alignment.ts';
import type { Trace } from '../../panels/attention/query-key.ts';
import { shownTokens } from '../../panels/words/tokens.ts';

export interface Input {
  first: string;
  second: string;
}

/** One text that was looked at: every head's attention, and what rows and columns stand for. */
export interface Looked {
  maps: Partial<Record<AttentionKind, AttentionMap>>;
  /** Of what was read. */
  source: readonly string[];
  /** Of what was written. */
  target: readonly string[];
  /** Where that was asked for. */
  trace?: Trace | undefined;
}

export type Answered =
  | { task: 'text-classification'; result: Classification }
  | { task: 'token-classification'; text: string; result: TokenClassification }
  | { task: 'question-answering'; context: string; result: Answer }
  | { task: 'feature-extraction'; texts: readonly string[]; similarity: readonly number[][] }
  | { task: 'translation'; text: string; result: Translation; alignment: Alignment }
  | { task: 'text-generation'; text: string; result: Generation }
  | { task: 'text2text-generation'; result: Generation };

/** An answer, and what can be looked into: one text or sentence after the other. */
export interface Outcome {
  input: Input;
  answered: Answered;
  looked: readonly Looked[];
}

export type TaskName = Answered['task'];

/** How a translation is searched for. */
export interface Search {
  /** 0: as many as the model's own settings say. */
  beams: number;
  /** Of each sentence, the tokens that its translation has to begin with. */
  forced: readonly (readonly number[])[];
}

interface Options {
  ablate: readonly Head<AttentionKind>[];
  search: Search;
  signal: AbortSignal;
  /** Names of tensors. */
  trace?: readonly string[];
}

interface Task {
  /** In words. */
  name: string;
  first: string;
  /** The second box, where there is one. */
  second?: string;
  /** Whether there is nothing to answer while the second box is empty. */
  needsSecond?: boolean;
  /** Of its class, as somebody calls it. */
  call: (input: Input, search: Search) => string;
  ask: (model: Model, input: Input, options: Options) => Promise<Omit<Outcome, 'input'>>;
}

/** The most tokens that a text is continued by at once. */
export const mostWritten = 40;

const literal = (text: string) => JSON.stringify(text);

/** Lines that have something in them. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const tasks: Record<TaskName, Task> = {
  'text-classification': {
    name: 'puts texts into classes',
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
      return { answered, looked: [reading(result, [first, second])] };
    },
  },
  'token-classification': {
    name: 'finds names and the like',
    first: 'Text',
    call: ({ first }) => `classify(${literal(first)}, { ...options, aggregation: 'simple' })`,
    async ask(model, { first }, options) {
      const how = { aggregation: 'simple', window: 'first' } as const;
      const all = { ...encoderOptions(options), ...how };
      const result = await (model as TokenClassifier).classify(first, all);
      const answered = { task: 'token-classification', text: first, result } as const;
      return { answered, looked: [reading(result, [first])] };
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
      return { answered, looked: [reading(result, [first, second])] };
    },
  },
  'feature-extraction': {
    name: 'compares sentences',
    first: 'Sentences, a line each',
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
      return { answered, looked: results.map((result, i) => reading(result, [texts[i]!])) };
    },
  },
  translation: {
    name: 'translates',
    first: 'Text',
    call: ({ first }, { beams, forced }) => {
      const options = ['...options', 'hypotheses: true'];
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
        beams: search.beams || undefined,
        prefixes: search.forced,
      });
      const labels = (text: string, tokens: readonly Token[]) =>
        shownTokens(text, tokens).map(({ label }) => label);
      const looked = result.sentences.map(({ attention, sourceTokens, tokens, trace: traced }) => ({
        maps: attention,
        trace: traced,
        source: labels(first, sourceTokens),
        target: labels(result.text, tokens),
      }));
      const alignment = alignmentOf(first, result);
      return { answered: { task: 'translation', text: first, result, alignment }, looked };
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
      // The last token that was written was not read any more.
      const source = labels.slice(0, attention.decoder.queries).map(({ label }) => label);
      const answered = { task: 'text-generation', text: first, result } as const;
      return { answered, looked: [{ maps: attention, source, target: [], trace: traced }] };
    },
  },
  'text2text-generation': {
    name: 'answers texts with texts',
    first: 'Text, with what is to be done before it where the model wants that',
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
      const looked = {
        maps,
        trace: traced,
        source: labels(first, promptTokens),
        target: labels(result.text, tokens),
      };
      return { answered: { task: 'text2text-generation', result }, looked: [looked] };
    },
  },
};

/** The tasks of an encoder and a decoder: what is written looks at what is read. */
const crossing: readonly string[] = ['translation', 'text2text-generation'] satisfies TaskName[];
export const crosses = (task: string | undefined): boolean =>
  task !== undefined && crossing.includes(task);

export const isTask = (task: string): task is TaskName => Object.hasOwn(tasks, task);

function ofKind<Kind extends AttentionKind>(
  heads: readonly Head<AttentionKind>[],
  kind: Kind,
): Head<Kind>[] {
  return heads.filter((head): head is Head<Kind> => head.attention === kind);
}

const encoderOptions = ({ ablate, signal, trace = [] }: Options) => ({
  attention: true as const,
  signal,
  trace,
  ablate: ofKind(ablate, 'encoder'),
});

/** What an encoder read: tokens of one text, or of two. */
function reading(
  {
    tokens,
    attention,
    trace,
  }: { tokens: Token[]; attention: { encoder: AttentionMap }; trace: Trace },
  texts: readonly string[],
): Looked {
  const own = texts.map((text, i) =>
    shownTokens(
      text,
      tokens.filter(({ sequence = 0 }) => sequence === i),
    ),
  );
  const next = own.map(() => 0);
  const source = tokens.map(({ sequence = 0 }) => own[sequence]![next[sequence]!++]!.label);
  return { maps: attention, source, target: [], trace };
}
