/** Reads heads.json, once it is fetched. */
import { sets, type Interval, type Measured, type MeasuredHead } from '../head-roles.ts';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const isNumber = (value: unknown): value is number => Number.isFinite(value);

const sharesIn = (value: unknown): MeasuredHead['share'] =>
  Object.fromEntries(
    sets.flatMap((set) => (isFields(value) && isNumber(value[set]) ? [[set, value[set]]] : [])),
  );

function scoreIn({ accuracyLost, bleuLost }: Fields): MeasuredHead['scoreLost'] {
  if (isNumber(accuracyLost)) return { name: 'accuracy', points: accuracyLost };
  return isNumber(bleuLost) ? { name: 'BLEU', points: bleuLost } : undefined;
}

function headIn(value: unknown): MeasuredHead | undefined {
  if (!isFields(value) || !isFields(value.zero)) return undefined;
  const { attention, layer, head, entropy } = value;
  const { mean, low, high } = value.zero;
  const kind = (['encoder', 'decoder', 'cross'] as const).find((each) => each === attention);
  if (!kind || ![layer, head, entropy, mean, low, high].every(isNumber)) return undefined;
  return {
    attention: kind,
    ...({ layer, head, entropy } as Pick<MeasuredHead, 'layer' | 'head' | 'entropy'>),
    share: sharesIn(value.share),
    even: sharesIn(value.even),
    lost: { mean, low, high } as Interval,
    scoreLost: scoreIn(value),
    began: isNumber(value.began) ? value.began : undefined,
  };
}

/** Reads a heads.json, written by tests/evaluate/heads.mjs. Returns undefined if malformed. */
export function measuredIn(json: unknown): Measured | undefined {
  if (!isFields(json) || !isNumber(json.texts) || !Array.isArray(json.heads)) return undefined;
  const heads = json.heads.map(headIn).filter((head) => head !== undefined);
  return heads.length > 0 ? { texts: json.texts, heads } : undefined;
}
