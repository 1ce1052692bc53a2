/**
 * Activation patching between two sentences that are translated: how far the encoder's vector of one
 * token, at one depth, moves the first word in which the two translations differ.
 */
import type {
  SentenceTranslation,
  Patch,
  TracedTensor,
  TranslateOptions,
  Translator,
} from 'glassformer';
import { translateFailure, type Failure } from './failure.ts';
import { pairTokens } from './token-pairs.ts';
import type { Carried, TransplantTable } from './transplant.ts';

/** Each cell is two runs: a sentence of more tokens would take too long. */
export const longestForTransplant = 40;

export interface WordTransplantReading {
  base: string;
  donor: string;
  /** How each is translated. */
  baseText: string;
  donorText: string;
  /** Where they part: the next token of the one and of the other; undefined where they do not. */
  words: { base: string; donor: string } | undefined;
  /** Of log P(donor's word) − log P(base's word), after what both begin with. */
  table: TransplantTable;
  done: boolean;
}

type Traced = SentenceTranslation & { trace?: Readonly<Record<string, TracedTensor>> };

export class WordTransplant {
  reading = $state.raw<WordTransplantReading>();
  busy = $state(false);
  failure = $state.raw<Failure>();
  /** What is written with a vector carried across. */
  performed = $state.raw<{ at: Carried; text: string | undefined }>();

  #work = new AbortController();
  #performing = new AbortController();
  #perform: ((at: Carried, signal: AbortSignal) => Promise<string>) | undefined;

  async read(model: Translator, base: string, donor: string, beams: number): Promise<void> {
    this.stop();
    const { signal } = (this.#work = new AbortController());
    this.failure = undefined;
    this.performed = undefined;
    this.busy = true;
    try {
      await this.#measure(model, base, donor, beams, signal);
    } catch (error) {
      if (!signal.aborted) {
        this.reading = undefined;
        this.failure = translateFailure(error);
      }
    }
    if (!signal.aborted) this.busy = false;
  }

  async perform(at: Carried | undefined): Promise<void> {
    this.#performing.abort();
    const { signal } = (this.#performing = new AbortController());
    this.performed = at && { at, text: undefined };
    if (!at || !this.#perform) return;
    try {
      const text = await this.#perform(at, signal);
      if (!signal.aborted) this.performed = { at, text };
    } catch (error) {
      if (!signal.aborted) this.failure = translateFailure(error);
    }
  }

  stop(): void {
    this.#work.abort();
    this.#performing.abort();
    this.busy = false;
  }

  async #measure(
    model: Translator,
    base: string,
    donor: string,
    beams: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { layers } = model.info;
    const one = async (text: string, options: TranslateOptions): Promise<Traced> => {
      const { sentences } = await model.translate(text, { ...options, signal });
      return sentences[0]!;
    };
    const streams = Array.from({ length: layers }, (_, layer) => `encoder.layers.${layer}.input`);
    streams.push(`encoder.layers.${layers - 1}.output`);
    const positions = 'encoder.embed_positions';
    const [plainBase, plainDonor] = [
      await one(base, { beams, trace: [positions] }),
      await one(donor, { beams, trace: [positions] }),
    ];
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
    const ofBase = moved(pairs.baseColumns);
    const trace = streams;
    const own = await one(base, { beams, trace, patch: ofBase });
    const other = await one(donor, { beams, trace, patch: moved(pairs.donorColumns) });

    const first = own.tokens.findIndex(({ id }, i) => id !== other.tokens[i]?.id);
    const [is, would] = [own.tokens[first], other.tokens[first]];
    const parted = is && would && { base: is.text.trim(), donor: would.text.trim() };
    const prefix = own.tokens.slice(0, Math.max(0, first)).map(({ id }) => id);
    const contrast = async (text: string, patch: Patch[]): Promise<number> => {
      const logprob = async (id: number): Promise<number> => {
        const prefixes = [[...prefix, id]];
        const forced = { beams: 1, prefixes, maxLength: prefix.length + 1, patch };
        return (await one(text, forced)).tokens.at(-1)!.logprob;
      };
      return (await logprob(would!.id)) - (await logprob(is!.id));
    };

    const tokens = own.sourceTokens;
    const shape: [number, number] = [layers + 1, tokens.length];
    const data = new Float32Array(shape[0] * shape[1]).fill(NaN);
    const [atBase, atDonor] = parted
      ? [await contrast(base, ofBase), await contrast(donor, moved(pairs.donorColumns))]
      : [0, 0];
    const show = (done: boolean) => {
      this.reading = {
        ...{ base, donor, baseText: own.text, donorText: other.text, words: parted, done },
        table: {
          ...{ method: 'transplant', label: parted?.donor ?? '', clipped: false, ...pairs },
          ...{ tokens, donorTokens: other.sourceTokens },
          cells: tokens.map((_, i) => ({ tokens: [i], unpaired: pairs.donorOf[i] === null })),
          ...{ base: atBase, donor: atDonor, plainBase: atBase, plainDonor: atDonor },
          delta: { shape, data: data.slice() },
        },
      };
    };
    const patchOf = ({ row, cell }: Carried): Patch => {
      const name = streams[row]!;
      const from = pairs.donorOf[cell]!;
      return { name, tokens: [cell], value: rowsOf(other.trace![name]!, [from]) };
    };
    this.#perform = async (at, aborted) => {
      const options = { beams, patch: [...ofBase, patchOf(at)], signal: aborted };
      return (await model.translate(base, options)).sentences[0]!.text;
    };
    if (!parted) return show(true);
    for (let row = 0; row <= layers; row++) {
      for (const [cell, from] of pairs.donorOf.entries()) {
        if (from === null) continue;
        const name = streams[row]!;
        const [here, there] = [
          rowsOf(own.trace![name]!, [cell]).data,
          rowsOf(other.trace![name]!, [from]).data,
        ];
        const same = here.every((value, i) => value === there[i]);
        data[row * tokens.length + cell] = same
          ? 0
          : (await contrast(base, [...ofBase, patchOf({ row, cell })])) - atBase;
      }
      show(row === layers);
    }
  }
}

/** Some rows of a matrix, in the order asked for. */
function rowsOf({ shape, data }: TracedTensor, rows: readonly number[]): TracedTensor {
  const width = shape[1]!;
  const picked = new Float32Array(rows.length * width);
  rows.forEach((row, i) => picked.set(data.subarray(row * width, (row + 1) * width), i * width));
  return { shape: [rows.length, width], data: picked };
}
