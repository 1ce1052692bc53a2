/** Reads a text with a model and keeps every number that the steps show. */
import type { Classifier, Generator, Token, Translator } from 'glassformer';
import { folderOf } from '../../../models/models.ts';
import { shownTokens } from '../../../panels/words/tokens.ts';
import { architectureOf, type Architecture, type StackName } from './architecture.ts';
import type { Spot } from '../link.ts';
import type { InsideModel } from './models.ts';
import { keysOf, rowOf, type Piece, type Run } from './run.ts';
import { largest } from '../../../panels/words/next-logits.ts';
import { stepsOf, tensorsOf, type Step } from '../steps/steps.ts';
import { untrainedWeights } from './untrained.ts';
import { Weights } from './weights.ts';

export type OpenModel = Classifier | Translator | Generator;

/** A model's folder as far as this view reads it beside the package; each file once. */
export class Folder {
  readonly architecture: Architecture;
  readonly #config: Readonly<Record<string, unknown>>;
  readonly #url: string;
  #file: Promise<Uint8Array<ArrayBuffer>> | undefined;
  #untrained: Promise<Uint8Array<ArrayBuffer>> | undefined;
  #pieces: Promise<readonly string[]> | undefined;

  private constructor(url: string, config: Readonly<Record<string, unknown>>) {
    this.#url = url;
    this.#config = config;
    this.architecture = architectureOf(config);
  }

  static async open(model: InsideModel): Promise<Folder> {
    const url = folderOf(model).href;
    const config = (await (await fetched(`${url}/config.json`)).json()) as Record<string, unknown>;
    return new Folder(url, config);
  }

  /** The weights that the model was loaded with. */
  async weights(untrained: boolean): Promise<Weights> {
    const bytes = await (untrained ? this.untrained() : this.#bytes());
    return new Weights(bytes, this.architecture.inFile);
  }

  /** A file of random weights. */
  untrained(): Promise<Uint8Array<ArrayBuffer>> {
    this.#untrained ??= this.weights(false).then(({ shapes }) => untrainedWeights(shapes));
    return this.#untrained;
  }

  /** What the answers of the folder's model read as: labels, or the vocabulary's pieces. */
  answers(model: OpenModel): Promise<readonly string[]> {
    const { answer } = this.architecture;
    if (answer.kind === 'classes') return Promise.resolve(answer.labels);
    this.#pieces ??= model.vocabulary();
    return this.#pieces;
  }

  /** What a decoder reads first. */
  get startToken(): string {
    const { start_token: name } = this.#config;
    return typeof name === 'string' ? name : '';
  }

  /** Of which files the tokenizer is made. */
  get tokenizerFiles(): readonly string[] {
    if (this.#config.model_type === 'gpt2') return ['tokenizer.json', 'tokenizer_config.json'];
    return ['tokenizer.model'];
  }

  #bytes(): Promise<Uint8Array<ArrayBuffer>> {
    this.#file ??= fetched(`${this.#url}/model.safetensors`)
      .then((response) => response.arrayBuffer())
      .then((buffer) => new Uint8Array(buffer));
    return this.#file;
  }
}

async function fetched(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response;
}

/** A text, and all that the model made of it at one layer and on the way in and out. */
export interface Reading {
  text: string;
  model: InsideModel;
  untrained: boolean;
  folder: Folder;
  run: Run;
  spot: Spot;
  layer: number;
  head: number;
  steps: readonly Step[];
  answers: readonly string[];
  milliseconds: number;
}

export interface Question {
  text: string;
  /** Undefined: one that the view chooses. */
  spot: Spot | undefined;
  layer: number;
  head: number;
  untrained: boolean;
  signal: AbortSignal;
}

/** An untrained translator finds no end: this many tokens of it are enough. */
const longestUntrained = 16;

export async function read(
  name: InsideModel,
  model: OpenModel,
  folder: Folder,
  { text, spot, layer: wanted, head, untrained, signal }: Question,
): Promise<Reading> {
  const { architecture } = folder;
  const chosen = spot && architecture[spot.stack] ? spot.stack : undefined;
  const stackName: StackName = chosen ?? (architecture.decoder ? 'decoder' : 'encoder');
  const stack = architecture[stackName]!;
  const layer = Math.min(wanted, stack.layers - 1);
  const steps = stepsOf(architecture, stackName, layer);
  const answers = await folder.answers(model);
  const start = performance.now();
  const options = { trace: tensorsOf(steps), signal };
  const run = await ask(model, folder, text, options, answers, untrained);
  const pieces = run.pieces[stackName]!;
  // Where somebody who has chosen nothing yet begins: a writer's last token says what follows.
  const middle = Math.floor((2 * pieces.length) / 3);
  const first = !architecture.encoder ? pieces.length - 1 : architecture.decoder ? 1 : middle;
  const token = chosen ? spot!.token : first;
  return {
    text,
    model: name,
    untrained,
    folder,
    run,
    spot: { stack: stackName, token: Math.max(0, Math.min(token, pieces.length - 1)) },
    layer,
    head: Math.min(head, stack.heads - 1),
    steps,
    answers,
    milliseconds: performance.now() - start,
  };
}

interface Asking {
  trace: readonly string[];
  signal: AbortSignal;
}

async function ask(
  model: OpenModel,
  folder: Folder,
  text: string,
  options: Asking,
  answers: readonly string[],
  untrained: boolean,
): Promise<Run> {
  const piecesOf = (whole: string, tokens: readonly Token[]): Piece[] =>
    shownTokens(whole, tokens).map(({ label, index }) => ({ label, id: tokens[index]!.id }));
  if ('classify' in model) {
    const { trace, tokens } = await model.classify(text, options);
    return { trace, tokens, pieces: { encoder: piecesOf(text, tokens) } };
  }
  if ('next' in model) {
    const { trace, promptTokens: tokens } = await model.next(text, { ...options, count: 1 });
    return { trace, tokens: [], pieces: { decoder: piecesOf(text, tokens) } };
  }
  const maxLength = untrained ? { maxLength: longestUntrained } : {};
  const result = await model.translate(text, { ...options, ...maxLength, beams: 1 });
  const sentence = result.sentences[0]!;
  const start = { label: folder.startToken, id: answers.indexOf(folder.startToken) };
  // A row of the decoder reads one token and writes the next; the last one is read by none.
  const written = piecesOf(result.text, sentence.tokens).slice(0, -1);
  return {
    trace: sentence.trace,
    tokens: sentence.sourceTokens,
    pieces: { encoder: piecesOf(text, sentence.sourceTokens), decoder: [start, ...written] },
  };
}

/** The token that the chosen one looks at most, in the reading's head. */
export function mostSeen(reading: Reading, weights: string, head: number): number {
  const row = keysOf(reading.run, weights, reading.spot.token, head);
  let most = 0;
  for (let i = 1; i < row.length; i++) if (row[i]! > row[most]!) most = i;
  return most;
}

/** What the model answers, most probable first. */
export function answersOf({ run, answers, spot }: Reading, tensor: string, count: number) {
  return largest(rowOf(run, tensor, spot.token), count).map((each) => ({
    ...each,
    label: answers[each.index] ?? `${each.index}`,
  }));
}
