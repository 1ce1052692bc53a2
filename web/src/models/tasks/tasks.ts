/** The table of tasks: what the page shows for a model of each. */
import type { LanguagePair } from 'glassformer';
import type { Kind } from '../../ui/figured.ts';

export interface Input {
  first: string;
  second: string;
}

/** The search settings of a translator. */
export interface Search extends LanguagePair {
  /** 0 uses the model's own setting. */
  beams: number;
  /** Per sentence, the tokens that its translation must start with. */
  forced: readonly (readonly number[])[];
}

export interface Task {
  /** The predicate of “This model …”. */
  does: string;
  /** The kind of most models of this task. */
  figure: Kind;
  /** The label of the first box. */
  first: string;
  /** The label of the second box, if there is one. */
  second?: string;
  /** Whether the second box must be filled in. */
  needsSecond?: boolean;
  /** The first input. */
  example: Input;
  /** Returns the JavaScript call of the model's method. */
  call: (input: Input, search: Search) => string;
}

/** The most tokens that a model writes per call. */
export const mostWritten = 40;

const literal = (text: string) => JSON.stringify(text);
const one = (first: string): Input => ({ first, second: '' });

/** Returns the lines that are not blank. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const tasks = {
  'text-classification': {
    does: 'classifies texts',
    figure: 'encoder',
    first: 'Text',
    second: 'Second text, for a model that compares two',
    example: one('A gripping, beautifully shot film.'),
    call: ({ first, second }) =>
      second.trim()
        ? `classify({ text: ${literal(first)}, pair: ${literal(second)} }, options)`
        : `classify(${literal(first)}, options)`,
  },
  'token-classification': {
    does: 'finds names and other entities',
    figure: 'encoder',
    first: 'Text',
    example: one('Ada Lovelace met Charles Babbage in London.'),
    call: ({ first }) => `classify(${literal(first)}, { ...options, aggregation: 'simple' })`,
  },
  'question-answering': {
    does: 'answers questions from a text',
    figure: 'encoder',
    first: 'Question',
    second: 'Text that has the answer',
    needsSecond: true,
    example: {
      first: 'Where did they meet?',
      second: 'Ada Lovelace met Charles Babbage in London, at a party.',
    },
    call: ({ first, second }) => `answer(${literal(first)}, ${literal(second)}, options)`,
  },
  'fill-mask': {
    does: 'says which words may stand at a mask',
    figure: 'encoder',
    first: 'Text, with [MASK] for each hidden word',
    example: one('Paris is the [MASK] of France.'),
    call: ({ first }) => `fill(${literal(first)}, options)`,
  },
  'feature-extraction': {
    does: 'compares sentences',
    figure: 'encoder',
    first: 'Sentences, one per line',
    example: one(
      'The cat sleeps on the sofa.\nA kitten is lying on the couch.\nShares fell again.',
    ),
    call: ({ first }) => `embedBatch([${linesOf(first).map(literal).join(', ')}], options)`,
  },
  translation: {
    does: 'translates',
    figure: 'encoder-decoder',
    first: 'Text',
    example: one('Where is the station?'),
    call: ({ first }, { from, to, beams, forced }) => {
      const options = ['...options', 'hypotheses: true'];
      if (from) options.push(`from: ${literal(from)}`);
      if (to) options.push(`to: ${literal(to)}`);
      if (beams > 0) options.push(`beams: ${beams}`);
      if (forced.length > 0) options.push(`prefixes: ${JSON.stringify(forced)}`);
      return `translate(${literal(first)}, { ${options.join(', ')} })`;
    },
  },
  'text-generation': {
    does: 'continues texts',
    figure: 'decoder',
    first: 'Beginning',
    example: one('This film is'),
    call: ({ first }) =>
      `generate(${literal(first)}, { ...options, maxNewTokens: ${mostWritten} })`,
  },
  // The input is the whole conversation, as the model's template writes it.
  chat: {
    does: 'has conversations, and continues texts',
    figure: 'decoder',
    first: 'Message',
    example: one(''),
    call: () => `send('Why is the sky blue?', options)`,
  },
  'text2text-generation': {
    does: 'answers a text with a text',
    figure: 'encoder-decoder',
    first: 'Text, after its instruction if the model needs one',
    example: one('translate English to German: Where is the station?'),
    call: ({ first }) =>
      `generate(${literal(first)}, { ...options, maxNewTokens: ${mostWritten} })`,
  },
} satisfies Record<string, Task>;

export type TaskName = keyof typeof tasks;

export const isTask = (name: string | undefined): name is TaskName =>
  name !== undefined && Object.hasOwn(tasks, name);

/** What models do that read pictures. */
const pictureTasks: Readonly<Record<string, string>> = {
  'image-classification': 'classifies pictures',
  'zero-shot-image-classification': 'compares pictures with texts',
};

/** Returns what a model of a task does, if the page knows the task. */
export const doesOf = (name = ''): string | undefined =>
  isTask(name) ? tasks[name].does : pictureTasks[name];
