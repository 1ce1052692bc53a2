/** The shown result as JSON. The worker creates its text; see picture-file.ts. */
import type {
  AttentionMap,
  Classification,
  Head,
  Prediction,
  TranslateOptions,
  Translation,
} from 'glassformer';

/** Returns a result with every head's attention weights, its text and its interventions. */
export const resultJson = (
  text: string,
  result: Classification,
  ablate: readonly Head[],
  maskTokens: readonly number[],
): object => ({ text, ablate, maskTokens, ...result });

/** Returns the same for a translation; each sentence has encoder, decoder and cross-attention. */
export const translationJson = (
  text: string,
  result: Translation,
  asked: Pick<TranslateOptions, 'beams' | 'ablate' | 'maskTokens'>,
): object => ({ input: text, ...asked, ...result });

/** Returns the same for a text with its hundred most probable next tokens. */
export const predictionJson = (
  text: string,
  result: Prediction,
  ablate: readonly Head<'decoder'>[],
): object => ({ text, ablate, ...result, next: result.next.slice(0, 100) });

/** Returns `told` with every head's attention weights, by kind, for any model. */
export const attentionJson = (
  told: object,
  attention: Readonly<Partial<Record<string, AttentionMap>>>,
): object => ({ ...told, maps: undefined, attention });

/**
 * Returns the JSON text in the format of `glassformer classify --json --attention`: attention
 * weights as base64 of little-endian f32, other numbers one by one.
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
