/** Runs a model on a text and keeps every number that the steps show. */
import type { Classifier, Generator, Token, Translator } from 'glassformer';
import { shownTokens } from '../../../panels/words/tokens.ts';
import { stacksOf, type StackName, type Stacks } from './stacks.ts';
import type { Spot } from '../link.ts';
import type { InsideModel } from './models.ts';
import { keysOf, rowOf, type Piece, type Run } from './run.ts';
import { largest } from '../../../panels/words/next-logits.ts';
import { stepsOf, tensorsOf, type Step } from '../steps/steps.ts';

export type OpenModel = Classifier | Translator | Generator;

/** A text with everything the model computed for it in one layer and on the way in and out. */
export interface Reading {
  text: string;
  model: InsideModel;
  untrained: boolean;
  stacks: Stacks;
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
  /** Undefined lets the view choose a token. */
  spot: Spot | undefined;
  layer: number;
  head: number;
  untrained: boolean;
  signal: AbortSignal;
}

/** The length limit for an untrained translator, which rarely ends a sentence. */
const longestUntrained = 16;

/** Returns the names of a model's answers: its labels or its vocabulary. */
function namesOf(model: OpenModel): Promise<readonly string[]> {
  if ('classify' in model) return Promise.resolve(model.info.labels);
  const known = vocabularies.get(model) ?? model.vocabulary();
  vocabularies.set(model, known);
  return known;
}

const vocabularies = new WeakMap<OpenModel, Promise<readonly string[]>>();

export async function read(
  name: InsideModel,
  model: OpenModel,
  { text, spot, layer: wanted, head, untrained, signal }: Question,
): Promise<Reading> {
  const stacks = stacksOf(model.architecture);
  const chosen = spot && stacks[spot.stack] ? spot.stack : undefined;
  const stackName: StackName = chosen ?? (stacks.decoder ? 'decoder' : 'encoder');
  const stack = stacks[stackName]!;
  const layer = Math.min(wanted, stack.count - 1);
  const steps = stepsOf(stacks, stackName, layer);
  const answers = await namesOf(model);
  const start = performance.now();
  const options = { trace: tensorsOf(steps), signal };
  const run = await ask(model, text, options, answers, untrained);
  const pieces = run.pieces[stackName]!;
  // The token chosen at first. The writer predicts the next token at its last one.
  const middle = Math.floor((2 * pieces.length) / 3);
  const first = !stacks.encoder ? pieces.length - 1 : stacks.decoder ? 1 : middle;
  const token = chosen ? spot!.token : first;
  return {
    text,
    model: name,
    untrained,
    stacks,
    run,
    spot: { stack: stackName, token: Math.max(0, Math.min(token, pieces.length - 1)) },
    layer,
    head: Math.min(head, stack.layer.nHeads - 1),
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
  const { startToken = '' } = model.architecture.decoder!;
  const start = { label: startToken, id: answers.indexOf(startToken) };
  // A row of the decoder reads one token and predicts the next; no row reads the last token.
  const written = piecesOf(result.text, sentence.tokens).slice(0, -1);
  return {
    trace: sentence.trace,
    tokens: sentence.sourceTokens,
    pieces: { encoder: piecesOf(text, sentence.sourceTokens), decoder: [start, ...written] },
  };
}

/** Returns the key with the largest attention weight for the chosen token, in one head. */
export function mostSeen(reading: Reading, weights: string, head: number): number {
  const row = keysOf(reading.run, weights, reading.spot.token, head);
  let most = 0;
  for (let i = 1; i < row.length; i++) if (row[i]! > row[most]!) most = i;
  return most;
}

/** Returns the model's `count` most probable answers, the most probable first. */
export function answersOf({ run, answers, spot }: Reading, tensor: string, count: number) {
  return largest(rowOf(run, tensor, spot.token), count).map((each) => ({
    ...each,
    label: answers[each.index] ?? `${each.index}`,
  }));
}
