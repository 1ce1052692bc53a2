/**
 * Times the engine in this browser through the package's public API: each arithmetic with each
 * binary that the browser can run.
 */
import { Classifier, Translator, type Binary, type Compute, type LoadOptions } from 'glassformer';
import { examples } from '../../panels/verdict/reviews.ts';
import { loadFailure, type Failure } from '../../ui/failure.ts';
import { binaries, folderOf, type ModelName } from '../../models/models.ts';
import { workOffline } from '../../models/offline.ts';

export const paces = {
  /** `warmUp` is in milliseconds: it lets the browser optimize the code before timing. */
  quick: { warmUp: 150, rounds: 3 },
  thorough: { warmUp: 500, rounds: 15 },
};
export type Pace = keyof typeof paces;

/** The length of one sample in milliseconds: browsers' clocks are too coarse for one call. */
const slice = 30;

/** One engine's figures for one task. */
export interface Row {
  compute: Compute;
  binary: Binary;
  /** The number of tokens read or, for a translation, written. */
  tokens: number;
  /** The time per text: the median of the rounds. */
  milliseconds: number;
  tokensPerSecond: number;
  /** Tokens per second divided by those of f32 with plain SIMD. */
  ratio: number;
}

interface Task {
  name: string;
  /** Resolves to the number of tokens that count. */
  call: (signal: AbortSignal) => Promise<number>;
}

/** A model loaded with one arithmetic and binary. */
interface Engine {
  compute: Compute;
  binary: Binary;
  tasks: Task[];
  dispose: () => void;
}

const lengths = [16, 64, 256];
const beamCounts = [1, 4];
const taskCount = lengths.length + beamCounts.length;

// The longest example twice: once, it has fewer tokens than the longest task.
const review = `${examples.at(-1)!.text} `.repeat(2);
const sentence =
  'Two young girls in white dresses are playing with a big dog in front of an old house.';

async function openClassifier(options: LoadOptions): Promise<Engine> {
  const classifier = await Classifier.load(folderOf('sentiment'), { ...options, urls: binaries });
  const { tokens } = await classifier.classify(review);
  const tasks = lengths.map((length) => {
    const text = review.slice(0, tokens[length - 1]!.end);
    return {
      name: `Sentiment, ${length} tokens`,
      call: async (signal: AbortSignal) =>
        (await classifier.classify(text, { signal })).tokens.length,
    };
  });
  const { compute, binary } = classifier.info;
  return { compute, binary: binary!, tasks, dispose: () => classifier.dispose() };
}

async function openTranslator(options: LoadOptions): Promise<Engine> {
  const translator = await Translator.load(folderOf('en-de'), { ...options, urls: binaries });
  const tasks = beamCounts.map((beams) => ({
    name: `Translation, ${beams === 1 ? 'greedy' : `${beams} beams`}`,
    call: async (signal: AbortSignal) =>
      (await translator.translate(sentence, { beams, signal })).sentences[0]!.tokens.length,
  }));
  const { compute, binary } = translator.info;
  return { compute, binary: binary!, tasks, dispose: () => translator.dispose() };
}

const models: readonly { name: ModelName; open: (options: LoadOptions) => Promise<Engine> }[] = [
  { name: 'sentiment', open: openClassifier },
  { name: 'en-de', open: openTranslator },
];

/** Calls repeatedly for at least `least` milliseconds; resolves to the mean time per call. */
async function time(call: () => Promise<unknown>, least: number): Promise<number> {
  const start = performance.now();
  let calls = 0;
  let passed = 0;
  while (passed < least) {
    await call();
    calls++;
    passed = performance.now() - start;
  }
  return passed / calls;
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;

/** Lets the page draw before the next sample, so that it does not draw during it. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

class Bench {
  stage = $state<'idle' | 'running' | 'stopped' | 'done' | 'failed'>('idle');
  /** The current step, in words. */
  now = $state('');
  /** The progress, 0 to 1. */
  progress = $state(0);
  failure = $state.raw<Failure>();
  groups = $state.raw<readonly { task: string; rows: readonly Row[] }[]>([]);
  pace = $state<Pace>('thorough');
  #abort = new AbortController();

  async run(): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    this.stage = 'running';
    this.failure = undefined;
    this.progress = 0;
    this.groups = [];
    let binary: Binary = 'simd';
    for (const { name, open } of models) {
      const engines: Engine[] = [];
      try {
        this.now = `Loading models/${name}`;
        for (const compute of ['f32', 'int8'] as const) {
          const best = await open({ compute, threads: 1, signal });
          engines.push(best);
          ({ binary } = best);
          // Plain SIMD comes first: the others are compared with it.
          if (best.binary === 'relaxed')
            engines.splice(-1, 0, await open({ compute, binary: 'simd', threads: 1, signal }));
        }
        for (const task of engines[0]!.tasks.keys()) await this.#measure(task, engines, signal);
      } catch (error) {
        this.stage = signal.aborted ? 'stopped' : 'failed';
        if (!signal.aborted) this.failure = loadFailure(error, `models/${name}`);
        return;
      } finally {
        for (const engine of engines) engine.dispose();
      }
    }
    this.stage = 'done';
    for (const { name } of models) await workOffline(name, binary);
  }

  stop(): void {
    this.#abort.abort();
  }

  /** Returns all figures and the environment as JSON. */
  toJson(): string {
    const { userAgent, hardwareConcurrency } = navigator;
    const results = this.groups.flatMap(({ task, rows }) => rows.map((row) => ({ task, ...row })));
    const about = { date: new Date().toISOString(), userAgent, hardwareConcurrency };
    return JSON.stringify({ ...about, rounds: paces[this.pace].rounds, results }, undefined, 2);
  }

  /** Times the engines in turn, round after round, so that a disturbance affects all of them. */
  async #measure(index: number, engines: readonly Engine[], signal: AbortSignal): Promise<void> {
    const { warmUp, rounds } = paces[this.pace];
    const before = this.groups;
    const task = engines[0]!.tasks[index]!.name;
    this.now = task;
    const step = 1 / (taskCount * engines.length * (1 + rounds));

    const timed = [];
    for (const { compute, binary, tasks } of engines) {
      const call = () => tasks[index]!.call(signal);
      const tokens = await call();
      await time(call, warmUp);
      timed.push({ compute, binary, call, tokens, samples: [] as number[] });
      this.progress += step;
    }
    for (let round = 0; round < rounds; round++) {
      for (const { call, samples } of timed) {
        await pause();
        samples.push(await time(call, slice));
        this.groups = [...before, { task, rows: rowsOf(timed) }];
        this.progress += step;
      }
    }
  }
}

/** Returns the figures so far, for engines that have samples. */
function rowsOf(
  timed: readonly (Pick<Row, 'compute' | 'binary' | 'tokens'> & { samples: readonly number[] })[],
): Row[] {
  const rows = timed
    .filter(({ samples }) => samples.length > 0)
    .map(({ compute, binary, tokens, samples }) => {
      const milliseconds = median(samples);
      return {
        compute,
        binary,
        tokens,
        milliseconds,
        tokensPerSecond: (1e3 * tokens) / milliseconds,
      };
    });
  const base = rows[0]?.tokensPerSecond ?? NaN;
  return rows.map((row) => ({ ...row, ratio: row.tokensPerSecond / base }));
}

/** The page's only instance: its figures stay while another view is open. */
export const bench = new Bench();
