/** What the page shows, as JSON. The worker makes the text of it: see save.ts. */
import type {
  AttentionMap,
  Classification,
  Head,
  Prediction,
  TranslateOptions,
  Translation,
} from 'glassformer';

/** A result with every head's attention, and the text and interventions it belongs to. */
export const resultJson = (
  text: string,
  result: Classification,
  ablate: readonly Head[],
  maskTokens: readonly number[],
): object => ({ text, ablate, maskTokens, ...result });

/** The same of a translation, every sentence with its encoder's, decoder's and cross-attention. */
export const translationJson = (
  text: string,
  result: Translation,
  asked: Pick<TranslateOptions, 'beams' | 'ablate' | 'maskTokens'>,
): object => ({ input: text, ...asked, ...result });

/** The same of a text and the tokens that may follow it, the hundred most probable of them. */
export const predictionJson = (
  text: string,
  result: Prediction,
  ablate: readonly Head<'decoder'>[],
): object => ({ text, ablate, ...result, next: result.next.slice(0, 100) });

/** What any model looked at: `told`, and every head's attention, by its kind. */
export const attentionJson = (
  told: object,
  attention: Readonly<Partial<Record<string, AttentionMap>>>,
): object => ({ ...told, maps: undefined, attention });

/**
 * Its text, as `glassformer classify --json --attention` prints it: attention weights as base64 of
 * little-endian f32, other numbers one by one.
 */
export const jsonText = (told: object): string =>
  JSON.stringify(
    told,
    (key, value: unknown) => {
      if (!(value instanceof Float32Array)) return value;
      return key === 'data' ? base64(value) : [...value];
    },
    1,
  );

function base64(values: Float32Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const chunk = 0x6000; // A multiple of three, so that the pieces join without padding.
  let out = '';
  for (let i = 0; i < bytes.length; i += chunk)
    out += btoa(String.fromCharCode(...bytes.subarray(i, i + chunk)));
  return out;
}
