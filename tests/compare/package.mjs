// The answers of the package in WebAssembly.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { shortest } from './models.mjs';

const depths = ['*', '*.*', '*.*.*.*', '*.*.*.*.*'];

/** The methods of explain, with their options. */
const methods = {
  rollout: {},
  value_norms: {},
  value_zeroing: {},
  lens: {},
  direct_logit_attribution: { effects: true },
  faithfulness: { orders: 2 },
  edges: { edges: [{ layer: 0, head: 0, query: 1, key: 0 }] },
  circuit: { least: 0.5 },
  decoder_lens: {},
};

/** The method of each class that answers a line, and its options, one set per question. */
const questions = {
  classify: ['classify', [{}, { ablate: [{ attention: 'encoder', layer: 0, head: 0 }] }]],
  ner: ['classify', [{}]],
  answer: ['answer', [{}]],
  embed: ['embed', [{}]],
  translate: ['translate', [{}, { beams: 1 }, { beams: 3, hypotheses: true }]],
  generate: [
    'generate',
    [
      { maxNewTokens: 12 },
      { maxNewTokens: 8, beams: 3, hypotheses: true },
      { maxNewTokens: 12, temperature: 0.8, topK: 20, seed: 7 },
    ],
  ],
};

const text = (value) =>
  JSON.stringify(
    value,
    (_, each) => {
      if (!ArrayBuffer.isView(each)) return each;
      return Buffer.from(each.buffer, each.byteOffset, each.byteLength).toString('base64');
    },
    1,
  );

export async function recordPackage(model, dist, out) {
  const folder = join(out, 'package', model.name);
  mkdirSync(folder, { recursive: true });
  const { load } = await import(pathToFileURL(join(resolve(dist), 'index.js')));
  for (const compute of ['f32', 'int8']) {
    const write = async (name, work) => {
      let result;
      try {
        result = await work();
      } catch (error) {
        result = { code: error.code, message: error.message };
      }
      writeFileSync(join(folder, `${compute}.${name}.json`), text(result));
      return result;
    };
    const [method, options] = questions[model.command];
    const explains = ['classify', 'translate', 'generate'].includes(model.command);
    await using(
      await load(model.folder, { compute, ...(explains && { explain: true }) }),
      async (it) => {
        await write('info', () => it.info);
        const ask = (line, each) => {
          const [question, context] = line.split('\t');
          return method === 'answer' ? it.answer(question, context, each) : it[method](line, each);
        };
        for (const [i, each] of options.entries()) {
          for (const [j, line] of model.lines.entries()) {
            await write(`${i}.${j}`, () => ask(line, { ...each, attention: true }));
          }
        }
        const line = shortest(model.lines);
        for (const pattern of depths) {
          await write(`trace.${depths.indexOf(pattern)}`, () =>
            ask(line, { ...options[0], trace: [pattern] }),
          );
        }
        for (const name of ['encoder', 'decoder'].flatMap((stack) =>
          [
            'input',
            'self_attn.q',
            'self_attn.v',
            'self_attn.scores',
            'self_attn.context',
            'fc1',
            'output',
          ].map((tensor) => `${stack}.layers.1.${tensor}`),
        )) {
          await write(`patch.${name}`, () =>
            ask(line, { ...options[0], patch: [{ name, value: 0.25 }] }),
          );
        }
        for (const [name, each] of explains ? Object.entries(methods) : []) {
          await write(`explain.${name}`, () => it.explain(line, { method: name, ...each }));
        }
      },
    );
  }
}

async function using(model, work) {
  try {
    await work(model);
  } finally {
    model.dispose();
  }
}
