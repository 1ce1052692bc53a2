/**
 * The models' answers to the first texts of three views. They are computed when the page is built and
 * shown until the models are loaded.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type * as Package from 'glassformer';
import type { Plugin } from 'vite';
import { packed } from '../src/models/beforehand/format.ts';
import { evidence } from '../src/panels/ledger/evidence.ts';
import { allNext } from '../src/panels/words/sampling.ts';
import { examples as reviews } from '../src/panels/verdict/reviews.ts';
import { examples as sentences } from '../src/panels/alignment/examples.ts';
import { examples as beginnings } from '../src/panels/words/examples.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const folder = (model: string) => here(`../../weights/${model}`);

/** Imports the built package. A literal import would be bundled into the configuration. */
const load = async (): Promise<typeof Package> =>
  (await import(
    /* @vite-ignore */ `${new URL('../../dist/index.js', import.meta.url)}`
  )) as typeof Package;

/** Returns the answer as JSON, or undefined if the model is missing. */
async function sentiment(): Promise<string | undefined> {
  if (!existsSync(folder('sentiment'))) return undefined;
  const { Classifier } = await load();
  const model = await Classifier.load(folder('sentiment'), { compute: 'f32' });
  try {
    const { text } = reviews[0]!;
    const { architecture } = model;
    const { labels } = model.info;
    const result = await model.classify(text, { attention: true, contributions: true });
    const effects = new Float32Array(result.tokens.length);
    for (const token of effects.keys()) {
      const without = await model.classify(text, { maskTokens: [token] });
      effects[token] = evidence(result) - evidence(without);
    }
    return packed({ text, labels, architecture, result, effects });
  } finally {
    model.dispose();
  }
}

async function translation(): Promise<string | undefined> {
  if (!existsSync(folder('en-de'))) return undefined;
  const { Translator } = await load();
  const model = await Translator.load(folder('en-de'), { compute: 'f32' });
  try {
    const { text } = sentences.de[0]!;
    const beams = 4;
    const options = { beams, attention: true, hypotheses: true } as const;
    const result = await model.translate(text, options);
    const [sentence] = result.sentences;
    const prefixes = [sentence!.tokens.map(({ id }) => id)];
    const sumOf = async (maskTokens: number[]) => {
      const own = { beams: 1, prefixes, maxLength: prefixes[0]!.length, maskTokens: [maskTokens] };
      const { sentences } = await model.translate(text, own);
      return sentences[0]!.tokens.reduce((sum, { logprob }) => sum + logprob, 0);
    };
    const whole = await sumOf([]);
    const effects = new Float32Array(sentence!.sourceTokens.length);
    for (const token of effects.keys()) effects[token] = whole - (await sumOf([token]));
    return packed({ text, beams, result, effects });
  } finally {
    model.dispose();
  }
}

async function writing(): Promise<string | undefined> {
  if (!existsSync(folder('writer'))) return undefined;
  const { Generator } = await load();
  const model = await Generator.load(folder('writer'), { compute: 'f32' });
  try {
    const { text } = beginnings[0]!;
    const { next, ...result } = await model.next(text, allNext);
    return packed({
      text,
      result,
      ids: next.map(({ id }) => id),
      texts: next.map((token) => token.text),
      logprobs: next.map(({ logprob }) => logprob),
    });
  } finally {
    model.dispose();
  }
}

/** The answers as JSON: in the page, or in files that views fetch. */
interface Answers {
  sentiment: string | undefined;
  files: Record<'translation' | 'writing', string | undefined>;
}

let answers: Promise<Answers> | undefined;

const answersBeforehand = (): Promise<Answers> =>
  (answers ??= (async () => ({
    sentiment: await sentiment(),
    files: { translation: await translation(), writing: await writing() },
  }))());

/** Puts the answer to the first review into the page, and the others into files. */
export function beforehand(): Plugin {
  const fileOf = (json: string) => {
    const hash = createHash('sha256').update(json).digest('hex').slice(0, 8);
    return `assets/beforehand-${hash}.json`;
  };
  return {
    name: 'beforehand',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (!/^\/assets\/beforehand-\w+\.json$/.test(request.url ?? '')) return next();
        void answersBeforehand().then(({ files }) => {
          response.setHeader('Content-Type', 'application/json');
          response.end(Object.values(files).find((json) => json && request.url === `/${fileOf(json)}`));
        });
      });
    },
    async transformIndexHtml() {
      const { sentiment, files } = await answersBeforehand();
      const addresses = Object.entries(files)
        .filter((entry): entry is [string, string] => entry[1] !== undefined)
        .map(([view, json]) => [`data-${view}`, fileOf(json)]);
      const attrs = {
        type: 'application/json',
        id: 'beforehand',
        ...Object.fromEntries(addresses),
      };
      // Escapes “<”, so that the JSON cannot end the element.
      const children = (sentiment ?? '').replaceAll('<', '\\u003c');
      return [{ tag: 'script', attrs, children, injectTo: 'head' }];
    },
    async generateBundle() {
      const { files } = await answersBeforehand();
      for (const source of Object.values(files))
        if (source !== undefined)
          this.emitFile({ type: 'asset', fileName: fileOf(source), source });
    },
  };
}
