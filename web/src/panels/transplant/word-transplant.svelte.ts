/**
 * Activation patching between two texts: how far replacing the vector of a token at a layer changes
 * the first word that differs between the outputs of the two texts.
 */
import type { GlassformerError, ModelInfo, Patch, Token, TracedTensor } from 'glassformer';
import { ExplainingModel, Question } from '../../models/explaining-model.svelte.ts';
import type { Model, ModelLoader } from '../../models/model-loader.svelte.ts';
import type { ModelName } from '../../models/models.ts';
import { rowOf } from '../words/next-logits.ts';
import type { Carried, Part, TransplantTable } from './transplant.ts';
import type { Answer, Kind, Parted, Run } from './word-transplant-kinds.ts';

/** In texts with more tokens, a cell is a word. */
const mostCells = 64;

export interface WordTransplantReading extends Part {
  base: string;
  donor: string;
  /** The output of each text. */
  baseAnswer: Answer;
  donorAnswer: Answer;
  /** The first tokens that differ; undefined if none do. */
  words: Parted['words'] | undefined;
  /** Whether the most probable token is the same in both. */
  alike: boolean;
  /** The table of log P(donor's word) − log P(base's word), after their common beginning. */
  table: TransplantTable;
  /** The estimates by gradients, which came first; undefined if the model has no gradients. */
  estimates: TransplantTable | undefined;
}

export class WordTransplant<M extends Model, R extends Run> {
  readonly #model: ExplainingModel<M>;
  readonly question: Question<M>;
  readonly performing: Question<M>;

  reading = $state.raw<WordTransplantReading>();
  /** The output with a replaced vector. */
  performed = $state.raw<{ at: Carried; answer: Answer | undefined }>();

  #perform: ((model: M, at: Carried, signal: AbortSignal) => Promise<Answer>) | undefined;

  /** `view` is the loader of the view's own model. */
  constructor(of: Kind<M, R>['of'], view: ModelLoader<M>) {
    this.#model = new ExplainingModel(of, view);
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

  /** Writes the base's answer with a cell's vectors replaced. */
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
    // A text that is too long is cut to the part that was read.
    const [own, other] = [base, donor].map((text, i) =>
      text.slice(plain[i]!.tokens[0]?.start ?? 0),
    ) as [string, string];

    // Both tokens of a pair get the same position, so that a shift in position is not mistaken for a
    // change in meaning.
    const name = `${stack}.embed_positions`;
    const columns = [...pairs.baseColumns, ...pairs.donorColumns];
    const count = Math.max(...columns) + 1 + kind.grows;
    const read = await kind.step(model, 'a '.repeat(count), [], { trace: [name], signal });
    const positions = read.trace[name]!;
    const there = positions.shape[0]! >= count;
    /** Returns patches of the positions of a text's tokens, and of `more` tokens after them. */
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
    let estimates: TransplantTable | undefined;
    const atBase = await contrast(own, ofBase);
    const atDonor = await contrast(other, ofDonor);
    const alone = {
      plainBase: ofBase.length > 0 ? await contrast(own, []) : atBase,
      plainDonor: ofDonor.length > 0 ? await contrast(other, []) : atDonor,
    };
    /** Shows the effects in `data`, of which the first `done` are measured. */
    const show = (done = data.length): TransplantTable => {
      const table: TransplantTable = {
        method: 'activation_patching',
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
        ...(done < data.length && { done }),
      };
      this.reading = {
        base,
        donor,
        baseAnswer: ownRun.answer,
        donorAnswer: otherRun.answer,
        words: parted?.words,
        alike: parted?.alike ?? false,
        site: 'residual',
        head: 0,
        table,
        estimates,
      };
      return table;
    };
    /** Replaces the vectors of tokens with a counterpart, and hides tokens without one from here on. */
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
    /** Returns whether all of a cell's vectors equal those of the counterparts, bit for bit. */
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
    if (!parted) {
      show();
      return;
    }
    const [against, token] = parted.ids;
    const lead = { token, against, prefix: parted.prefix };
    const slopes = await unlessUnsupported(
      kind.gradients(model, own, lead, { names: streams, patch: ofBase, signal }),
    );
    // A text that was cut for a longer answer may now have other tokens.
    if (slopes?.[streams[0]!]!.shape[0] === tokens.length) {
      cells.forEach(({ tokens }, cell) => {
        streams.forEach((name, row) => {
          const sum = tokens.reduce((change, token) => {
            const from = pairs.donorOf[token]!;
            if (from === null) return NaN; // removing a token has no estimate
            const there = rowOf(otherRun.trace[name]!, from);
            const here = rowOf(ownRun.trace[name]!, token);
            const slope = rowOf(slopes[name]!, token);
            return change + slope.reduce((sum, x, i) => sum + x * (there[i]! - here[i]!), 0);
          }, 0);
          data[row * cells.length + cell] = sum;
        });
      });
      estimates = show(0);
    }
    for (let row = 0; row <= layers; row++) {
      for (let cell = 0; cell < cells.length; cell++) {
        const at = { row, cell };
        data[row * cells.length + cell] = same(at)
          ? 0
          : (await contrast(own, [...ofBase, ...patchesOf(at)])) - atBase;
      }
      show((row + 1) * cells.length);
    }
  }
}

/** Returns undefined if the model cannot do it. */
async function unlessUnsupported<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if ((error as Partial<GlassformerError>).code === 'unsupported') return undefined;
    throw error;
  }
}

/** Hides these tokens from attention from a layer of a stack on, and in a decoder after it. */
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

/** Returns the tokens of each cell: one token, or all tokens of a word. */
export function cellsOf(tokens: readonly Token[]): number[][] {
  const cells: number[][] = [];
  tokens.forEach(({ text, start, end }, token) => {
    const begins = tokens.length <= mostCells || /^\s/.test(text) || start === end;
    if (begins || cells.length === 0) cells.push([token]);
    else cells.at(-1)!.push(token);
  });
  return cells;
}

/** Returns some rows of a matrix, in this order. */
function rowsOf({ shape, data }: TracedTensor, rows: readonly number[]): TracedTensor {
  const width = shape[1]!;
  const picked = new Float32Array(rows.length * width);
  rows.forEach((row, i) => picked.set(data.subarray(row * width, (row + 1) * width), i * width));
  return { shape: [rows.length, width], data: picked };
}
