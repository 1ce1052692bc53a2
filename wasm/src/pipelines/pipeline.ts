// The tasks of Transformers.js: its names, options and results, over this package's classes.

import { load, zeroShot } from '../index.js';
import type {
  Classifier,
  Embedder,
  ImageClassifier,
  LabelScore,
  LoadOptions,
  MaskFiller,
  Model,
  ModelFiles,
  PictureSource,
  QuestionAnswerer,
  Task,
  TokenClassifier,
  ZeroShotImageClassifier,
} from '../index.js';
import { checkOption, checkOptions } from '../base/checks.js';
import { oneOrAll } from './one_or_all.js';
import { generator } from './generate.js';
import type { GenerateArguments, TranslateArguments, TextResult } from './generate.js';
import { signs, Tensor } from './tensor.js';

/** Options of Transformers.js's `pipeline`, and those of `load`. */
export interface PipelineOptions extends Omit<LoadOptions, 'onProgress' | 'compute'> {
  /** Receives what Transformers.js reports of each file, and `ready` at the end. */
  progress_callback?: ((progress: PipelineProgress) => void) | null | undefined;
  /**
   * 'q8', 'int8' and 'uint8' compute with 8-bit integers, 'q4' with 4-bit weights in the blocks,
   * 'fp32' and 'fp16' with floats. Default: as
   * the files say.
   */
  dtype?: 'auto' | 'fp32' | 'fp16' | 'q8' | 'int8' | 'uint8' | 'q4' | null | undefined;
  /** Models run on the CPU. */
  device?: 'auto' | 'cpu' | 'wasm' | null | undefined;
  /** The version of a model of the hub. Default: 'main'. */
  revision?: string | undefined;
}

export type PipelineProgress =
  | {
      status: 'progress';
      name: string;
      file: string;
      progress: number;
      loaded: number;
      total: number;
    }
  | { status: 'ready'; task: string; model: string };

/** A label and its score. */
interface Labeled {
  label: string;
  score: number;
}

interface EntityResult {
  entity?: string;
  entity_group?: string;
  score: number;
  index?: number;
  word: string;
  start: number;
  end: number;
}

interface FilledResult {
  score: number;
  token: number;
  token_str: string;
  sequence: string;
}

interface ZeroShotResult {
  sequence: string;
  labels: string[];
  scores: number[];
}

/** The result for one input, or an array of them for several. */
type Each<Input, One> = Input extends readonly unknown[] ? One[] : One;

/** The function of each task. */
export interface Calls {
  'text-classification': {
    <Text extends string | readonly string[]>(
      texts: Text,
      options?: { top_k?: 1 | undefined },
    ): Promise<Labeled[]>;
    <Text extends string | readonly string[]>(
      texts: Text,
      options: { top_k: number | null },
    ): Promise<Each<Text, Labeled[]>>;
  };
  'token-classification': <Text extends string | readonly string[]>(
    texts: Text,
    options?: { ignore_labels?: readonly string[]; aggregation_strategy?: 'none' | 'simple' },
  ) => Promise<Each<Text, EntityResult[]>>;
  'question-answering': <Text extends string | readonly string[]>(
    question: Text,
    context: Text,
    options?: { top_k?: 1 },
  ) => Promise<Each<Text, { answer: string; score: number; start: number; end: number }>>;
  'fill-mask': <Text extends string | readonly string[]>(
    texts: Text,
    options?: { top_k?: number },
  ) => Promise<Each<Text, FilledResult[]>>;
  'zero-shot-classification': <Text extends string | readonly string[]>(
    texts: Text,
    labels: string | readonly string[],
    options?: { hypothesis_template?: string; multi_label?: boolean },
  ) => Promise<Each<Text, ZeroShotResult>>;
  'feature-extraction': (
    texts: string | readonly string[],
    options?: {
      pooling?: 'none' | 'mean' | 'cls' | 'first_token' | 'eos' | 'last_token';
      normalize?: boolean;
      quantize?: boolean;
      precision?: 'binary' | 'ubinary';
    },
  ) => Promise<Tensor<Float32Array | Int8Array | Uint8Array>>;
  'image-classification': <Picture extends PictureSource | readonly PictureSource[]>(
    pictures: Picture,
    options?: { top_k?: number },
  ) => Promise<Each<Picture, Labeled[]>>;
  'zero-shot-image-classification': <Picture extends PictureSource | readonly PictureSource[]>(
    pictures: Picture,
    labels: readonly string[],
    options?: { hypothesis_template?: string },
  ) => Promise<Each<Picture, Labeled[]>>;
  'text-generation': <Text extends string | readonly string[]>(
    texts: Text,
    options?: GenerateArguments & { return_full_text?: boolean },
  ) => Promise<Each<Text, TextResult<'generated_text'>[]>>;
  'text2text-generation': Writes<'generated_text'>;
  summarization: Writes<'summary_text'>;
  translation: Writes<'translation_text', TranslateArguments>;
}

type Writes<Key extends string, Arguments = GenerateArguments> = (
  texts: string | readonly string[],
  options?: Arguments,
) => Promise<TextResult<Key>[]>;

/** The names that `pipeline` takes. */
export type PipelineTask =
  keyof Calls | 'sentiment-analysis' | 'ner' | `translation_${string}_to_${string}`;

type CallOf<Name extends PipelineTask> = Name extends keyof Calls
  ? Calls[Name]
  : Name extends 'sentiment-analysis'
    ? Calls['text-classification']
    : Name extends 'ner'
      ? Calls['token-classification']
      : Calls['translation'];

/** A model that is called like a function. */
export type Pipeline<Name extends PipelineTask = PipelineTask> = CallOf<Name> & {
  task: string;
  /** The model, with everything that this package's classes can do. */
  model: Model;
  dispose(): Promise<void>;
};

const aliases: Record<string, string> = {
  'sentiment-analysis': 'text-classification',
  ner: 'token-classification',
};

type Options = Record<string, unknown>;
type Call = (...given: never[]) => Promise<unknown>;

/** The kind of model of a task, undefined if there are several; and how its function is made. */
interface Maker {
  loads: Task | undefined;
  call(model: Model, task: string): Call;
}

const makers: Record<keyof Calls, Maker> = {
  'text-classification': { loads: 'text-classification', call: (m) => classes(m as Classifier) },
  'token-classification': {
    loads: 'token-classification',
    call: (m) => entities(m as TokenClassifier),
  },
  'question-answering': {
    loads: 'question-answering',
    call: (m) => answers(m as QuestionAnswerer),
  },
  'fill-mask': { loads: 'fill-mask', call: (m) => fillings(m as MaskFiller) },
  'zero-shot-classification': {
    loads: 'text-classification',
    call: (m) => labelsOfAll(m as Classifier),
  },
  'feature-extraction': { loads: 'feature-extraction', call: (m) => vectors(m as Embedder) },
  'image-classification': {
    loads: 'image-classification',
    call: (m) => pictureClasses(m as ImageClassifier),
  },
  'zero-shot-image-classification': {
    loads: 'zero-shot-image-classification',
    call: (m) => labelsOfPictures(m as ZeroShotImageClassifier),
  },
  'text-generation': { loads: 'text-generation', call: generator('generated_text') },
  'text2text-generation': { loads: 'text2text-generation', call: generator('generated_text') },
  summarization: { loads: 'text2text-generation', call: generator('summary_text') },
  translation: { loads: undefined, call: generator('translation_text') },
};

/**
 * Loads a model for a task. `model` is a name on the hub, such as
 * 'sentence-transformers/all-MiniLM-L6-v2', or whatever `load` takes. Unlike in Transformers.js, it is
 * the repository with safetensors, not a copy with ONNX files.
 */
export async function pipeline<Name extends PipelineTask>(
  task: Name,
  model: string | URL | ModelFiles,
  options: PipelineOptions = {},
): Promise<Pipeline<Name>> {
  const name = aliases[task] ?? task;
  const known = /^translation_\w+_to_\w+$/.test(name) ? 'translation' : name;
  const names = [...Object.keys(makers), ...Object.keys(aliases)].join(', ');
  checkOption(Object.hasOwn(makers, known), 'task', `one of ${names}, translation_xx_to_yy`);
  checkOption(
    model !== undefined && model !== null,
    'model',
    'the name of a model, as there is no default',
  );
  const { progress_callback, dtype, device, revision, ...others } = options;
  checkDevice(device);
  const { loads, call } = makers[known as keyof Calls];
  const loaded = await load(folderOf(model, revision), {
    ...others,
    ...(loads && { task: loads }),
    compute: computeOf(dtype),
    onProgress: progressOf(progress_callback, String(model)),
  } as LoadOptions & { task: Task });
  progress_callback?.({ status: 'ready', task: name, model: String(model) });
  const run = call(loaded as Model, name);
  return Object.assign((...given: never[]) => run(...given), {
    task: name,
    model: loaded,
    dispose: async () => loaded.dispose(),
  }) as unknown as Pipeline<Name>;
}

// A name without a slash at its start, a dot or a scheme is that of a repository.
function folderOf(model: string | URL | ModelFiles, revision?: string): string | URL | ModelFiles {
  if (typeof model !== 'string' || !/^[\w-][\w.-]*(\/[\w.-]+)?$/.test(model)) {
    checkOption(
      revision === undefined,
      'revision',
      'nothing, unless the model is the name of a repository',
    );
    return model;
  }
  return `hf:${model}${revision === undefined ? '' : `@${revision}`}`;
}

function computeOf(dtype: unknown): LoadOptions['compute'] {
  if (dtype === undefined || dtype === null || dtype === 'auto') return undefined;
  if (dtype === 'fp32' || dtype === 'fp16') return 'f32';
  if (dtype === 'q4') return 'int4';
  checkOption(
    ['q8', 'int8', 'uint8'].includes(dtype as string),
    'dtype',
    'fp32, fp16, q8, int8, uint8 or q4',
  );
  return 'int8';
}

function checkDevice(device: unknown): void {
  const valid = [undefined, null, 'auto', 'cpu', 'wasm'].includes(device as string);
  checkOption(valid, 'device', 'auto, cpu or wasm');
}

function progressOf(
  callback: PipelineOptions['progress_callback'],
  name: string,
): LoadOptions['onProgress'] {
  if (!callback) return undefined;
  return ({ file, loaded, total = 0 }) =>
    callback({
      status: 'progress',
      name,
      file,
      progress: total > 0 ? (100 * loaded) / total : 0,
      loaded,
      total,
    });
}

function best(scores: readonly LabelScore[], count: number | null): Labeled[] {
  const sorted = scores
    .map(({ label, score }) => ({ label, score }))
    .sort((a, b) => b.score - a.score);
  return sorted.slice(0, count ?? sorted.length);
}

function checkTopK(top_k: unknown): void {
  const valid = top_k === null || (Number.isInteger(top_k) && Number(top_k) >= 1);
  checkOption(valid, 'top_k', 'a whole number of at least 1');
}

function classes(model: Classifier): Call {
  return async (texts: string | string[], options: Options = {}) => {
    checkOptions(options, ['top_k'], 'pipeline');
    const { top_k = 1 } = options as { top_k?: number | null };
    checkTopK(top_k);
    const work = async (all: string[]) =>
      (await model.classifyBatch(all)).map(({ scores }) => best(scores, top_k));
    // The best labels alone are one array, even of one text.
    return top_k === 1 ? (await work([texts].flat())).flat() : oneOrAll(texts, work);
  };
}

function entities(model: TokenClassifier): Call {
  return async (texts: string | string[], options: Options = {}) => {
    checkOptions(options, ['ignore_labels', 'aggregation_strategy'], 'pipeline');
    const { ignore_labels: ignoreLabels, aggregation_strategy: aggregation = 'none' } = options as {
      ignore_labels?: string[];
      aggregation_strategy?: 'none' | 'simple';
    };
    return oneOrAll(texts, async (all) => {
      const results = await model.classifyBatch(all, { ignoreLabels, aggregation });
      return results.map((result) =>
        result.entities.map(({ entity, score, word, start, end, index }) =>
          aggregation === 'none'
            ? { entity, score, index, word, start, end }
            : { entity_group: entity, score, word, start, end },
        ),
      );
    });
  };
}

// Fills the first mask of a text.
function fillings(model: MaskFiller): Call {
  return async (texts: string | string[], options: Options = {}) => {
    checkOptions(options, ['top_k'], 'pipeline');
    const { top_k: topK = 5 } = options as { top_k?: number };
    return oneOrAll(texts, async (all) =>
      (await model.fillBatch(all, { topK })).map(({ masks }) =>
        masks[0]!.answers.map(({ score, id: token, text: token_str, sequence }) => ({
          score,
          token,
          token_str,
          sequence,
        })),
      ),
    );
  };
}

function answers(model: QuestionAnswerer): Call {
  return async (
    questions: string | string[],
    contexts: string | string[],
    options: Options = {},
  ) => {
    checkOptions(options, ['top_k'], 'pipeline');
    checkOption((options['top_k'] ?? 1) === 1, 'top_k', '1');
    return oneOrAll(questions, async (asked) => {
      const all = Array.isArray(contexts) ? contexts : asked.map(() => contexts);
      const fits = all.length === asked.length;
      checkOption(fits, 'context', `${asked.length} texts, one per question`);
      const results = await model.answerBatch(
        asked.map((question, i) => ({ question, context: all[i]! })),
      );
      return results.map(({ answer, score, start, end }) => ({ answer, score, start, end }));
    });
  };
}

function labelsOfAll(model: Classifier): Call {
  return async (texts: string | string[], given: string | string[], options: Options = {}) => {
    checkOptions(options, ['hypothesis_template', 'multi_label'], 'pipeline');
    const { hypothesis_template: template, multi_label: multiple } = options as {
      hypothesis_template?: string;
      multi_label?: boolean;
    };
    const candidates = [given].flat();
    return oneOrAll(texts, async (all) => {
      const found = [];
      for (const sequence of all) {
        const { labels } = await zeroShot(model, sequence, candidates, { template, multiple });
        found.push({
          sequence,
          labels: labels.map(({ label }) => label),
          scores: labels.map(({ score }) => score),
        });
      }
      return found;
    });
  };
}

const poolings = {
  mean: 'mean',
  cls: 'cls',
  first_token: 'cls',
  eos: 'lasttoken',
  last_token: 'lasttoken',
} as const;

function vectors(model: Embedder): Call {
  return async (given: string | string[], options: Options = {}) => {
    checkOptions(options, ['pooling', 'normalize', 'quantize', 'precision'], 'pipeline');
    const {
      pooling = 'none',
      normalize = false,
      quantize = false,
      precision = 'binary',
    } = options as Parameters<Calls['feature-extraction']>[1] & object;
    const names = ['none', ...Object.keys(poolings)];
    checkOption(names.includes(pooling), 'pooling', `one of ${names.join(', ')}`);
    checkOption(['binary', 'ubinary'].includes(precision), 'precision', "'binary' or 'ubinary'");
    const texts = [given].flat();
    let tensor: Tensor;
    if (pooling === 'none') {
      tensor = padded(await model.embedBatch(texts, { trace: ['encoder.output'] }));
      if (normalize) scaleRows(tensor);
    } else {
      const results = await model.embedBatch(texts, { pooling: poolings[pooling], normalize });
      const width = results[0]?.embedding.length ?? 0;
      const data = new Float32Array(results.length * width);
      results.forEach(({ embedding }, i) => data.set(embedding, i * width));
      tensor = new Tensor(data, [results.length, width]);
    }
    if (!quantize) return tensor;
    const fits = tensor.dims.length === 2 && tensor.dims[1]! % 8 === 0;
    checkOption(fits, 'quantize', 'vectors of texts with a multiple of 8 numbers');
    return signs(tensor, precision);
  };
}

// [texts, tokens, width], with zeros after the tokens of shorter texts.
function padded(
  results: { trace: Record<string, { shape: number[]; data: Float32Array }> }[],
): Tensor {
  const rows = results.map(({ trace }) => trace['encoder.output']!);
  const tokens = Math.max(0, ...rows.map(({ shape }) => shape[0]!));
  const width = rows[0]?.shape[1] ?? 0;
  const data = new Float32Array(rows.length * tokens * width);
  rows.forEach((row, i) => data.set(row.data, i * tokens * width));
  return new Tensor(data, [rows.length, tokens, width]);
}

function scaleRows({ data, dims }: Tensor): void {
  const width = dims.at(-1)!;
  for (let at = 0; at < data.length; at += width) {
    const row = data.subarray(at, at + width);
    const length = Math.hypot(...row);
    if (length > 0) row.forEach((value, i) => (row[i] = value / length));
  }
}

function pictureClasses(model: ImageClassifier): Call {
  return async (pictures: PictureSource | PictureSource[], options: Options = {}) => {
    checkOptions(options, ['top_k'], 'pipeline');
    const { top_k = 5 } = options as { top_k?: number };
    checkTopK(top_k);
    return oneOrAll(pictures, async (all) =>
      (await model.classifyBatch(all)).map(({ scores }) => best(scores, top_k)),
    );
  };
}

function labelsOfPictures(model: ZeroShotImageClassifier): Call {
  return async (
    pictures: PictureSource | PictureSource[],
    labels: string[],
    options: Options = {},
  ) => {
    checkOptions(options, ['hypothesis_template'], 'pipeline');
    const { hypothesis_template: hypothesisTemplate } = options as { hypothesis_template?: string };
    return oneOrAll(pictures, async (all) => {
      const found = [];
      for (const picture of all) {
        const { scores } = await model.classify(picture, labels, { hypothesisTemplate });
        found.push(best(scores, labels.length));
      }
      return found;
    });
  };
}
