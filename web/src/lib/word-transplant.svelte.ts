/**
 * Activation patching between two sentences that are translated: how far the encoder's vector of one
 * token, at one depth, moves the first word in which the two translations differ.
 */
import { Translator } from 'glassformer';
import type {
  Patch,
  SentenceTranslation,
  Token,
  TracedTensor,
  TranslateOptions,
} from 'glassformer';
import { ExplainingModel, Question } from './explaining-model.svelte.ts';
import { ModelLoader } from './model-loader.svelte.ts';
import type { ModelName } from './models.ts';
import { nextLogits } from './next-logits.ts';
import { pairTokens } from './token-pairs.ts';
import type { Carried, Part, TransplantTable } from './transplant.ts';

/** Of a sentence of more tokens, a cell is a word. */
const mostCells = 64;

export interface WordTransplantReading extends Part {
  base: string;
  donor: string;
  /** How each is translated. */
  baseText: string;
  donorText: string;
  /** Where they part: the next token of the one and of the other; undefined where they do not. */
  words: { base: string; donor: string } | undefined;
  /** Of log P(donor's word) − log P(base's word), after what both begin with. */
  table: TransplantTable;
}

type Traced = SentenceTranslation & { trace?: Readonly<Record<string, TracedTensor>> };

export class WordTransplant {
  /** In floats: attention in integers reads nothing that would be replaced. */
  readonly #model = new ExplainingModel(
    new ModelLoader((folder, options) => Translator.load(folder, { ...options, compute: 'f32' })),
  );
  readonly question = new Question(this.#model);
  readonly performing = new Question(this.#model);

  reading = $state.raw<WordTransplantReading>();
  /** What is written with a vector carried across. */
  performed = $state.raw<{ at: Carried; text: string | undefined }>();

  #patchesOf: ((at: Carried) => Patch[]) | undefined;

  async read(name: ModelName, base: string, donor: string, beams: number): Promise<void> {
    this.stop();
    this.performed = undefined;
    await this.question.ask(name, (model, signal) =>
      this.#measure(model, base, donor, beams, signal),
    );
    if (this.question.failure) this.reading = undefined;
  }

  /** Has the sentence translated with a cell's vectors carried across. */
  async perform(name: ModelName, at: Carried | undefined, beams: number): Promise<void> {
    this.performing.stop();
    this.performed = at && { at, text: undefined };
    const { reading } = this;
    const patch = at && this.#patchesOf?.(at);
    if (!patch || !reading) return;
    await this.performing.ask(name, async (model, signal) => {
      const { text } = await model.translate(reading.base, { beams, patch, signal });
      if (!signal.aborted) this.performed = { at, text };
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
    model: Translator,
    base: string,
    donor: string,
    beams: number,
    signal: AbortSignal,
  ): Promise<void> {
    const layers = model.info.layers;
    const one = async (text: string, options: TranslateOptions): Promise<Traced> => {
      const { sentences } = await model.translate(text, { beams, ...options, signal });
      return sentences[0]!;
    };
    const streams = Array.from({ length: layers }, (_, layer) => `encoder.layers.${layer}.input`);
    streams.push(`encoder.layers.${layers - 1}.output`);
    const positions = 'encoder.embed_positions';
    const plainBase = await one(base, { trace: [positions] });
    const plainDonor = await one(donor, { trace: [positions] });
    const pairs = pairTokens(plainBase.sourceTokens, plainDonor.sourceTokens);

    // Both of a pair get the same position, or the shift alone would pose as content.
    const longer = [plainBase, plainDonor]
      .map(({ trace }) => trace![positions]!)
      .reduce((a, b) => (a.shape[0]! >= b.shape[0]! ? a : b));
    const moved = (columns: readonly number[]): Patch[] => {
      const apart = columns.some((column, i) => column !== i);
      if (!apart || Math.max(...columns) >= longer.shape[0]!) return [];
      return [{ name: positions, value: rowsOf(longer, columns) }];
    };
    const [ofBase, ofDonor] = [moved(pairs.baseColumns), moved(pairs.donorColumns)];
    const own = await one(base, { trace: streams, patch: ofBase });
    const other = await one(donor, { trace: streams, patch: ofDonor });

    const first = own.tokens.findIndex(({ id }, i) => id !== other.tokens[i]?.id);
    const [is, would] = [own.tokens[first], other.tokens[first]];
    const parted = is && would && { base: is.text.trim(), donor: would.text.trim() };
    const prefix = own.tokens.slice(0, Math.max(0, first)).map(({ id }) => id);
    const contrast = async (text: string, patch: Patch[]): Promise<number> => {
      if (!parted) return 0;
      const logits = await nextLogits(model, text, prefix, { patch, signal });
      return logits[would.id]! - logits[is.id]!;
    };

    const tokens = own.sourceTokens;
    const cells = cellsOf(tokens).map((each) => ({
      tokens: each,
      unpaired: each.every((token) => pairs.donorOf[token] === null),
    }));
    const shape: [number, number] = [layers + 1, cells.length];
    const data = new Float32Array(shape[0] * shape[1]).fill(NaN);
    const atBase = await contrast(base, ofBase);
    const atDonor = await contrast(donor, ofDonor);
    const alone = {
      plainBase: ofBase.length > 0 ? await contrast(base, []) : atBase,
      plainDonor: ofDonor.length > 0 ? await contrast(donor, []) : atDonor,
    };
    const show = () => {
      this.reading = {
        ...{ base, donor, baseText: own.text, donorText: other.text, words: parted },
        ...{ site: 'residual', head: 0 },
        table: {
          ...{ method: 'transplant', label: parted?.donor ?? '', clipped: false, ...pairs, cells },
          ...{ tokens, donorTokens: other.sourceTokens, base: atBase, donor: atDonor, ...alone },
          delta: { shape, data: data.slice() },
        },
      };
    };
    /** What has a partner takes over its vectors; what has none is read by nobody from here on. */
    const patchesOf = ({ row, cell }: Carried): Patch[] => {
      const name = streams[row]!;
      const members = cells[cell]!.tokens;
      const paired = members.filter((token) => pairs.donorOf[token] !== null);
      const gone = members.filter((token) => pairs.donorOf[token] === null);
      const from = paired.map((token) => pairs.donorOf[token]!);
      const carried = { name, tokens: paired, value: rowsOf(other.trace![name]!, from) };
      return [
        ...(paired.length > 0 ? [carried] : []),
        ...(gone.length > 0 ? unread(gone, row, layers, model.info.decoderLayers) : []),
      ];
    };
    /** Whether all of a cell's vectors are the partners' own, to the bit. */
    const same = ({ row, cell }: Carried): boolean =>
      cells[cell]!.tokens.every((token) => {
        const from = pairs.donorOf[token]!;
        if (from === null) return false;
        const name = streams[row]!;
        const there = rowsOf(other.trace![name]!, [from]).data;
        return rowsOf(own.trace![name]!, [token]).data.every((value, i) => value === there[i]);
      });
    this.#patchesOf = (at) => [...ofBase, ...patchesOf(at)];
    if (!parted) return show();
    for (let row = 0; row <= layers; row++) {
      for (let cell = 0; cell < cells.length; cell++) {
        const at = { row, cell };
        data[row * cells.length + cell] = same(at)
          ? 0
          : (await contrast(base, this.#patchesOf(at))) - atBase;
      }
      show();
    }
  }
}

/** From a layer of the encoder on, and in the decoder, nobody attends to these tokens. */
const unread = (keys: number[], from: number, layers: number, decoderLayers: number): Patch[] =>
  [
    ...Array.from({ length: layers - from }, (_, i) => `encoder.layers.${from + i}.self_attn`),
    ...Array.from({ length: decoderLayers }, (_, i) => `decoder.layers.${i}.encoder_attn`),
  ].map((attention) => ({ name: `${attention}.scores`, keys, value: -Infinity }));

/** Tokens by the cell that they are in: each one its own, or all of a word. */
export function cellsOf(tokens: readonly Token[]): number[][] {
  const cells: number[][] = [];
  tokens.forEach(({ text, start, end }, token) => {
    const begins = tokens.length <= mostCells || /^\s/.test(text) || start === end;
    if (begins || cells.length === 0) cells.push([token]);
    else cells.at(-1)!.push(token);
  });
  return cells;
}

/** Some rows of a matrix, in the order asked for. */
function rowsOf({ shape, data }: TracedTensor, rows: readonly number[]): TracedTensor {
  const width = shape[1]!;
  const picked = new Float32Array(rows.length * width);
  rows.forEach((row, i) => picked.set(data.subarray(row * width, (row + 1) * width), i * width));
  return { shape: [rows.length, width], data: picked };
}
