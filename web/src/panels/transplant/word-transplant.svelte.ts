/**
 Activation patching between two texts: how much the vector of one token, at one depth, changes the
 first word in which the two answers differ.
 */
import type { ModelInfo, Patch, Token, TracedTensor } from 'glassformer';
import { ExplainingModel, Question } from '../../models/explaining-model.svelte.ts';
import { ModelLoader, type Model } from '../../models/model-loader.svelte.ts';
import type { ModelName } from '../../models/models.ts';
import { rowOf } from '../words/next-logits.ts';
import type { Carried, Part, TransplantTable } from './transplant.ts';
import type { Answer, Kind, Parted, Run } from './word-transplant-kinds.ts';

/** In longer texts, a cell is a word. */
const mostCells = 64;

export interface WordTransplantReading extends Part {
  base: string;
  donor: string;
  /** The model's answers to the two texts. */
  baseAnswer: Answer;
  donorAnswer: Answer;
  /** The first different tokens of the two answers, if there are any. */
  words: Parted['words'] | undefined;
  /** Whether the most likely token is the same in both. */
  alike: boolean;
  /** The table of log P(donor's word) − log P(base's word), after the common prefix. */
  table: TransplantTable;
}

export class WordTransplant<M extends Model, R extends Run> {
  readonly #model: ExplainingModel<M>;
  readonly question: Question<M>;
  readonly performing: Question<M>;

  reading = $state.raw<WordTransplantReading>();
  /** The answer with a patched vector. */
  performed = $state.raw<{ at: Carried; answer: Answer | undefined }>();

  #perform: ((model: M, at: Carried, signal: AbortSignal) => Promise<Answer>) | undefined;

  constructor(load: Kind<M, R>['load']) {
    this.#model = new ExplainingModel(new ModelLoader(load));
    this.question = new Question(this.#model);
    this.performing = new Question(this.#model);
  }

  async read(name: ModelName, kind: Kind<M, R>, base: string, donor: string): Promise<void> {
    this.stop();
    this.performed = undefined;
    await this.question.ask(name, (model, signal) =>
      this.#measure(model, kind, base, donor, signal),
    );
    if (this.question.failure) this.reading = undefined;
  }

  /** Runs the base text with a cell's vectors patched. */
  async perform(name: ModelName, at: Carried | undefined): Promise<void> {
    this.performing.stop();
    this.performed = at && { at, answer: undefined };
    const perform = this.#perform;
    if (!at || !perform) return;
    await this.performing.ask(name, async (model, signal) => {
      const answer = await perform(model, at, signal);
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
    kind: Kind<M, R>,
    base: string,
    donor: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { stack } = kind;
    const { layers } = model.info;
    const streams = Array.from({ length: layers }, (_, layer) => `${stack}.layers.${layer}.input`);
    streams.push(`${stack}.layers.${layers - 1}.output`);

    const plain = [
      await kind.step(model, base, [], { signal }),
      await kind.step(model, donor, [], { signal }),
    ];
    const [tokens, donorTokens] = plain.map((each) => each.tokens) as [Token[], Token[]];
    const pairs = kind.pair(tokens, donorTokens);
    // If a text is too long, only the part that was read.
    const [own, other] = [base, donor].map((text, i) =>
      text.slice(plain[i]!.tokens[0]?.start ?? 0),
    ) as [string, string];

    // Counterparts get the same position: a shift in position is not a difference in content.
    const name = `${stack}.embed_positions`;
    const columns = [...pairs.baseColumns, ...pairs.donorColumns];
    const count = Math.max(...columns) + 1 + kind.grows;
    const read = await kind.step(model, 'a '.repeat(count), [], { trace: [name], signal });
    const positions = read.trace[name]!;
    const there = positions.shape[0]! >= count;
    /** Returns a patch with the positions of a text's tokens and of `more` tokens after them. */
    const moved = (at: readonly number[], more = 0): Patch[] => {
      if (!there || at.every((column, i) => column === i)) return [];
      const after = Array.from({ length: more }, (_, i) => at.at(-1)! + 1 + i);
      return [{ name, value: rowsOf(positions, [...at, ...after]) }];
    };
    const ofBase = moved(pairs.baseColumns);
    const ofDonor = moved(pairs.donorColumns);
    const whole = moved(pairs.baseColumns, kind.grows);
    const ownRun = await kind.run(model, own, { trace: streams, patch: whole, signal });
    const otherRun = await kind.run(model, other, {
      trace: streams,
      signal,
      patch: moved(pairs.donorColumns, kind.grows),
    });

    const parted = kind.part(ownRun, otherRun);
    const contrast = async (text: string, patch: Patch[]): Promise<number> => {
      if (!parted) return 0;
      const asking = { patch, trace: ['logits'], signal };
      const { trace } = await kind.step(model, text, parted.prefix, asking);
      const logits = rowOf(trace.logits!, -1);
      const [is, would] = parted.ids;
      return logits[would]! - logits[is]!;
    };

    const cells = cellsOf(tokens).map((each) => ({
      tokens: each,
      unpaired: each.every((token) => pairs.donorOf[token] === null),
    }));
    const shape: [number, number] = [layers + 1, cells.length];
    const data = new Float32Array(shape[0] * shape[1]).fill(NaN);
    const atBase = await contrast(own, ofBase);
    const atDonor = await contrast(other, ofDonor);
    const alone = {
      plainBase: ofBase.length > 0 ? await contrast(own, []) : atBase,
      plainDonor: ofDonor.length > 0 ? await contrast(other, []) : atDonor,
    };
    const show = () => {
      this.reading = {
        base,
        donor,
        baseAnswer: ownRun.answer,
        donorAnswer: otherRun.answer,
        words: parted?.words,
        alike: parted?.alike ?? false,
        site: 'residual',
        head: 0,
        table: {
          method: 'transplant',
          label: parted?.words.donor ?? '',
          clipped: false,
          ...pairs,
          cells,
          tokens,
          donorTokens,
          base: atBase,
          donor: atDonor,
          ...alone,
          delta: { shape, data: data.slice() },
        },
      };
    };
    /** Returns patches: tokens get the vectors of counterparts, or are masked without one. */
    const patchesOf = ({ row, cell }: Carried): Patch[] => {
      const name = streams[row]!;
      const members = cells[cell]!.tokens;
      const paired = members.filter((token) => pairs.donorOf[token] !== null);
      const gone = members.filter((token) => pairs.donorOf[token] === null);
      const from = paired.map((token) => pairs.donorOf[token]!);
      const carried = { name, tokens: paired, value: rowsOf(otherRun.trace[name]!, from) };
      return [
        ...(paired.length > 0 ? [carried] : []),
        ...(gone.length > 0 ? unread(gone, row, stack, model.info) : []),
      ];
    };
    /** Whether all of a cell's vectors are identical to their counterparts. */
    const same = ({ row, cell }: Carried): boolean =>
      cells[cell]!.tokens.every((token) => {
        const from = pairs.donorOf[token]!;
        if (from === null) return false;
        const name = streams[row]!;
        const there = rowOf(otherRun.trace[name]!, from);
        return rowOf(ownRun.trace[name]!, token).every((value, i) => value === there[i]);
      });
    this.#perform = async (model, at, signal) =>
      (await kind.run(model, own, { patch: [...whole, ...patchesOf(at)], signal })).answer;
    if (!parted) return show();
    for (let row = 0; row <= layers; row++) {
      for (let cell = 0; cell < cells.length; cell++) {
        const at = { row, cell };
        data[row * cells.length + cell] = same(at)
          ? 0
          : (await contrast(own, [...ofBase, ...patchesOf(at)])) - atBase;
      }
      show();
    }
  }
}

/** Masks these tokens from a layer of a stack on, and in the decoder that reads the stack. */
const unread = (
  keys: number[],
  from: number,
  stack: 'encoder' | 'decoder',
  { layers, decoderLayers = 0 }: ModelInfo,
): Patch[] =>
  [
    ...Array.from({ length: layers - from }, (_, i) => `${stack}.layers.${from + i}.self_attn`),
    ...Array.from({ length: decoderLayers }, (_, i) => `decoder.layers.${i}.encoder_attn`),
  ].map((attention) => ({ name: `${attention}.scores`, keys, value: -Infinity }));

/** Groups tokens into cells: one token per cell, or one word in long texts. */
export function cellsOf(tokens: readonly Token[]): number[][] {
  const cells: number[][] = [];
  tokens.forEach(({ text, start, end }, token) => {
    const begins = tokens.length <= mostCells || /^\s/.test(text) || start === end;
    if (begins || cells.length === 0) cells.push([token]);
    else cells.at(-1)!.push(token);
  });
  return cells;
}

/** Returns some rows of a matrix in the given order. */
function rowsOf({ shape, data }: TracedTensor, rows: readonly number[]): TracedTensor {
  const width = shape[1]!;
  const picked = new Float32Array(rows.length * width);
  rows.forEach((row, i) => picked.set(data.subarray(row * width, (row + 1) * width), i * width));
  return { shape: [rows.length, width], data: picked };
}
