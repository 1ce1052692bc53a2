/** What the page shows, as JSON. */
import type {
  AttentionMap,
  Classification,
  Head,
  Prediction,
  TranslateOptions,
  Translation,
} from 'glassformer';

/**
 * The result with every head's attention, as `glassformer classify --json --attention` prints it
 * (weights as base64 of little-endian f32), and the text and interventions it belongs to.
 */
export function resultJson(
  text: string,
  { attention, contributions, ...result }: Classification,
  ablate: readonly Head[],
  maskTokens: readonly number[],
): string {
  return JSON.stringify(
    {
      text,
      ablate,
      maskTokens,
      ...result,
      contributions:
        contributions &&
        Object.fromEntries(
          Object.entries(contributions).map(([label, values]) => [label, [...values]]),
        ),
      attention: attention && { encoder: encoded(attention.encoder) },
    },
    null,
    1,
  );
}

/** The same of a translation, every sentence with its encoder's, decoder's and cross-attention. */
export function translationJson(
  text: string,
  { sentences, ...result }: Translation,
  asked: Pick<TranslateOptions, 'beams' | 'ablate' | 'maskTokens'>,
): string {
  const all = sentences.map(({ attention, ...sentence }) => ({
    ...sentence,
    attention: attention && {
      encoder: encoded(attention.encoder),
      decoder: attention.decoder && encoded(attention.decoder),
      cross: encoded(attention.cross),
    },
  }));
  return JSON.stringify({ input: text, ...asked, ...result, sentences: all }, null, 1);
}

/** The same of a text and the tokens that may follow it, the hundred most probable of them. */
export function predictionJson(
  text: string,
  { attention, next, ...result }: Prediction,
  ablate: readonly Head<'decoder'>[],
): string {
  const decoder = attention && { decoder: encoded(attention.decoder) };
  return JSON.stringify(
    { text, ablate, ...result, next: next.slice(0, 100), attention: decoder },
    null,
    1,
  );
}

/** What any model looked at: `told`, and every head's attention, by its kind. */
export function attentionJson(
  told: object,
  maps: Readonly<Partial<Record<string, AttentionMap>>>,
): string {
  const attention = Object.fromEntries(
    Object.entries(maps).map(([kind, map]) => [kind, map && encoded(map)]),
  );
  return JSON.stringify({ ...told, maps: undefined, attention }, null, 1);
}

const encoded = (map: AttentionMap) => ({ ...map, data: base64(map.data) });

function base64(values: Float32Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const chunk = 0x6000; // A multiple of three, so that the pieces join without padding.
  let out = '';
  for (let i = 0; i < bytes.length; i += chunk)
    out += btoa(String.fromCharCode(...bytes.subarray(i, i + chunk)));
  return out;
}
