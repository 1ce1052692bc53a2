/**
 * Activation patching between two texts: how far replacing the vector of a token at a layer changes
 * the first word that differs between the outputs of the two texts. The package measures it; here,
 * the answer is written with one cell replaced.
 */
import type { ModelInfo, Patch, TracedTensor } from 'glassformer';
import { ExplainingModel, Question } from '../../models/explaining-model.svelte.ts';
import type { Model, ModelLoader } from '../../models/model-loader.svelte.ts';
import type { ModelName } from '../../models/models.ts';
import type { Carried, Part } from './transplant.ts';
import { shownWord, type Answer, type Kind, type WordTable } from './word-transplant-kinds.ts';

export interface WordTransplantReading extends Part {
  base: string;
  donor: string;
  /** The output of each text. */
  baseAnswer: Answer;
  donorAnswer: Answer;
  /** The first tokens that differ; undefined if none do. */
  words: { base: string; donor: string } | undefined;
  /** Whether the most probable token is the same in both. */
  alike: boolean;
  /** The table of log P(donor's word) − log P(base's word), after their common beginning. */
  table: WordTable;
  /** The estimates by gradients, which came first; undefined if the model has no gradients. */
  estimates: WordTable | undefined;
}

/** Writes the base's answer with a cell's vectors replaced. */
type Perform<M> = (model: M, at: Carried, signal: AbortSignal) => Promise<Answer>;

export class WordTransplant<M extends Model> {
  readonly #model: ExplainingModel<M>;
  readonly question: Question<M>;
  readonly performing: Question<M>;

  reading = $state.raw<WordTransplantReading>();
  /** The output with a replaced vector. */
  performed = $state.raw<{ at: Carried; answer: Answer | undefined }>();

  /** There once the table is complete. */
  #perform: Promise<Perform<M>> | undefined;

  /** `view` is the loader of the view's own model. */
  constructor(of: Kind<M>['of'], view: ModelLoader<M>) {
    this.#model = new ExplainingModel(of, view);
    this.question = new Question(this.#model);
    this.performing = new Question(this.#model);
  }

  async read(name: ModelName, kind: Kind<M>, base: string, donor: string): Promise<void> {
    this.stop();
    this.performed = undefined;
    let measured: (perform: Perform<M>) => void;
    this.#perform = new Promise((resolve) => (measured = resolve));
    await this.question.ask(name, async (model, signal) =>
      measured(await this.#measure(model, kind, base, donor, signal)),
    );
    if (this.question.failure) this.reading = undefined;
  }

  /** Writes the base's answer with a cell's vectors replaced. */
  async perform(name: ModelName, at: Carried | undefined): Promise<void> {
    this.performing.stop();
    this.performed = at && { at, answer: undefined };
    const perform = this.#perform;
    if (!at || !perform) return;
    await this.performing.ask(name, async (model, signal) => {
      const answer = await (await perform)(model, at, signal);
      if (!signal.aborted) this.performed = { at, answer };
    });
  }

  stop(): void {
    this.question.stop();
    this.performing.stop();
  }

  close(): void {
    this.stop();
    this.#model.close();
  }

  async #measure(
    model: M,
    kind: Kind<M>,
    base: string,
    donor: string,
    signal: AbortSignal,
  ): Promise<Perform<M>> {
    // Each text's output with its own positions. Those of the alignment are not known yet.
    let baseAnswer = await kind.answer(model, base, { signal });
    let donorAnswer = await kind.answer(model, donor, { signal });
    let estimates: WordTable | undefined;
    const show = (table: WordTable) => {
      if (signal.aborted) return;
      if (table.done === 0) estimates = table;
      const { token, against } = table;
      const words = token && against && { base: shownWord(against), donor: shownWord(token) };
      const alike = baseAnswer.first !== undefined && baseAnswer.first === donorAnswer.first;
      const part = { site: 'residual', head: 0 } as const;
      const answers = { baseAnswer, donorAnswer };
      this.reading = { ...{ base, donor, words, alike, table, estimates }, ...answers, ...part };
    };
    const pair = { text: base, pair: donor };
    const table = await kind.measure(model, pair, { signal, onProgress: show });

    const { tokens, donorTokens, baseColumns, donorColumns } = table;
    const positions = await positionsFor(model, kind, table, signal);
    // A text that is too long is cut to the part that was read.
    const own = base.slice(tokens[0]?.start ?? 0);
    const other = donor.slice(donorTokens[0]?.start ?? 0);
    const ofOwn = { patch: positions(baseColumns, kind.grows), signal };
    const ofOther = { patch: positions(donorColumns, kind.grows), signal };
    if (ofOwn.patch.length > 0) baseAnswer = await kind.answer(model, own, ofOwn);
    if (ofOther.patch.length > 0) donorAnswer = await kind.answer(model, other, ofOther);
    show(table);
    return async (model, at, signal) => {
      const name = streamName(kind.stack, at.row, model.info.layers);
      const patch = positions(donorColumns);
      const donated = (await kind.trace(model, other, { names: [name], patch, signal }))[name]!;
      const cell = patchesOf(table, at.cell, { name, ...donated }, (keys) =>
        hidden(keys, at.row, kind.stack, model.info),
      );
      return kind.answer(model, own, { patch: [...ofOwn.patch, ...cell], signal });
    };
  }
}

/** Returns the name of the tensor whose vectors a row replaces. */
const streamName = (stack: string, row: number, layers: number) =>
  row < layers ? `${stack}.layers.${row}.input` : `${stack}.layers.${layers - 1}.output`;

/**
 * Returns a function that makes patches which give a text's tokens the positions of these columns,
 * and `more` tokens after them the next ones; none if the columns are the text's own positions or
 * the model has too few.
 */
async function positionsFor<M extends Model>(
  model: M,
  kind: Kind<M>,
  { baseColumns, donorColumns }: WordTable,
  signal: AbortSignal,
): Promise<(columns: readonly number[], more?: number) => Patch[]> {
  const moves = (columns: readonly number[]) => columns.some((column, i) => column !== i);
  if (!moves(baseColumns) && !moves(donorColumns)) return () => [];
  const name = `${kind.stack}.embed_positions`;
  const count = Math.max(...baseColumns, ...donorColumns) + 1 + kind.grows;
  const traced = await kind.trace(model, 'a '.repeat(count), { names: [name], signal });
  const positions = traced[name]!;
  return (columns, more = 0) => {
    if (positions.shape[0]! < count || !moves(columns)) return [];
    const after = Array.from({ length: more }, (_, i) => columns.at(-1)! + 1 + i);
    return [{ name, value: rowsOf(positions, [...columns, ...after]) }];
  };
}

/** Replaces a cell's vectors by those of their counterparts in `from`, and hides the other tokens. */
function patchesOf(
  { cells, donorOf }: WordTable,
  cell: number,
  from: TracedTensor & { name: string },
  hide: (tokens: number[]) => Patch[],
): Patch[] {
  const members = cells[cell]!.tokens;
  const tokens = members.filter((token) => donorOf[token] !== null);
  const gone = members.filter((token) => donorOf[token] === null);
  const rows = tokens.map((token) => donorOf[token]!);
  const carried = { name: from.name, tokens, value: rowsOf(from, rows) };
  return [...(tokens.length > 0 ? [carried] : []), ...(gone.length > 0 ? hide(gone) : [])];
}

/** Hides these tokens from attention from a layer of a stack on, and in a decoder after it. */
const hidden = (
  keys: number[],
  from: number,
  stack: 'encoder' | 'decoder',
  { layers, decoderLayers = 0 }: ModelInfo,
): Patch[] =>
  [
    ...Array.from({ length: layers - from }, (_, i) => `${stack}.layers.${from + i}.self_attn`),
    ...Array.from({ length: decoderLayers }, (_, i) => `decoder.layers.${i}.encoder_attn`),
  ].map((attention) => ({ name: `${attention}.scores`, keys, value: -Infinity }));

/** Returns some rows of a matrix, in this order. */
function rowsOf({ shape, data }: TracedTensor, rows: readonly number[]): TracedTensor {
  const width = shape[1]!;
  const picked = new Float32Array(rows.length * width);
  rows.forEach((row, i) => picked.set(data.subarray(row * width, (row + 1) * width), i * width));
  return { shape: [rows.length, width], data: picked };
}
