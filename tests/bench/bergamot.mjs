// Bergamot's translator, the engine of Firefox Translations, in this process: its wasm, one thread,
// 8-bit integers, with a model of random weights of the same depth, width and vocabulary as ours.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { marianModel, marianShortlist } from './marian_model.mjs';

const worker = createRequire(import.meta.url).resolve(
  '@browsermt/bergamot-translator/worker/bergamot-translator-worker.js',
);

// Products that Firefox replaces with its own; outside Firefox, the module's products are used.
const products = {
  int8_prepare_a: 'int8PrepareAFallback',
  int8_prepare_b: 'int8PrepareBFallback',
  int8_prepare_b_from_transposed: 'int8PrepareBFromTransposedFallback',
  int8_prepare_b_from_quantized_transposed: 'int8PrepareBFromQuantizedTransposedFallback',
  int8_prepare_bias: 'int8PrepareBiasFallback',
  int8_multiply_and_add_bias: 'int8MultiplyAndAddBiasFallback',
  int8_select_columns_of_b: 'int8SelectColumnsOfBFallback',
};

/** Resolves to the module. Its glue code requires a global Module. */
function loadModule() {
  return new Promise((resolve, reject) => {
    const wasm = readFileSync(worker.replace(/\.js$/, '.wasm'));
    globalThis.Module = {
      printErr: () => {},
      instantiateWasm: (imports, accept) => {
        imports.wasm_gemm = Object.fromEntries(
          Object.entries(products).map(([name, own]) => [
            name,
            (...args) => globalThis.Module.asm[own](...args),
          ]),
        );
        WebAssembly.instantiate(wasm, imports).then(({ instance }) => accept(instance), reject);
        return {};
      },
      onAbort: reject,
      onRuntimeInitialized: () => resolve(globalThis.Module),
    };
    runInThisContext(readFileSync(worker, 'utf8'));
  });
}

const memory = (module, bytes, alignment) => {
  const aligned = new module.AlignedMemory(bytes.length, alignment);
  aligned.getByteArrayView().set(bytes);
  return aligned;
};

// Firefox's configuration; `settings` overrides it.
const configuration = (settings) =>
  Object.entries({
    'beam-size': 1,
    normalize: 1,
    'word-penalty': 0,
    'cpu-threads': 0,
    'gemm-precision': 'int8shiftAlphaAll',
    'skip-cost': true,
    alignment: 'soft',
    quiet: true,
    'quiet-translation': true,
    'max-length-break': 128,
    'mini-batch-words': 1024,
    workspace: 128,
    'max-length-factor': 2,
    ...settings,
  })
    .map(([key, value]) => `${key}: ${value}\n`)
    .join('');

/** The engine. */
export class BergamotEngine {
  static async load() {
    const engine = new BergamotEngine();
    engine.module = await loadModule();
    engine.service = new engine.module.BlockingService({ cacheSize: 0 });
    return engine;
  }

  /** Loads a model from these files. Without a shortlist, it uses an empty one. */
  model({ model, shortlist = new Uint8Array(), vocabularies }, settings = {}) {
    const { module } = this;
    const list = new module.AlignedMemoryList();
    for (const vocabulary of vocabularies) list.push_back(memory(module, vocabulary, 64));
    return new module.TranslationModel(
      configuration(settings),
      memory(module, model, 256),
      memory(module, shortlist, 64),
      list,
      null,
    );
  }

  /** Translates a text. `html`: keep the input's tags. */
  translate(model, text, html = false) {
    const { module, service } = this;
    const input = new module.VectorString();
    input.push_back(text);
    const options = new module.VectorResponseOptions();
    options.push_back({ qualityScores: false, alignment: html, html });
    const responses = service.translate(model, input, options);
    const translation = responses.get(0).getTranslatedText();
    for (const object of [input, options, responses]) object.delete();
    return translation;
  }
}

/** The engine with a model of random weights that is as large as ours. */
export class Bergamot {
  static async load(folder, config, end) {
    const bergamot = new Bergamot();
    bergamot.engine = await BergamotEngine.load();
    bergamot.files = {
      model: marianModel(config, end),
      vocabularies: [readFileSync(join(folder, 'tokenizer.model'))],
    };
    bergamot.shortlist = marianShortlist(config);
    return bergamot;
  }

  /**
   * Returns a function that translates `text`, of `tokens` tokens, greedily into `outputTokens`
   * tokens. It scores the whole vocabulary, as we do, or the tokens of a shortlist, as Firefox
   * does.
   */
  translation(text, { tokens, outputTokens, shortlist }) {
    const { engine, files } = this;
    const model = engine.model(shortlist ? { ...files, shortlist: this.shortlist } : files, {
      'max-length-break': 256,
      'max-length-factor': (outputTokens - 0.5) / tokens, // it rounds up
    });
    return () => engine.translate(model, text);
  }
}
