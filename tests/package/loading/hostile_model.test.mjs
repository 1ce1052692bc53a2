// Model files that claim more data than they have, or have invalid data. The binaries refuse them
// and allocate no memory for missing data.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  Classifier,
  assertError,
  binaries,
  dist,
  goldenFolder,
  joinSafetensors,
  readModel,
  splitSafetensors,
} from '../support/helpers.mjs';

const name = 'pre_norm_mean';
const config = JSON.parse(readFileSync(join(goldenFolder(name), 'config.json'), 'utf8'));
const encode = (text) => new TextEncoder().encode(text);

/** Starts to load files like wasm/src/engine/engine.ts. Returns the answer and the size of the memory. */
async function loadBegin(binary, configuration, header, dataSize) {
  const file = binary === 'simd' ? 'glassformer.wasm' : `glassformer.${binary}.wasm`;
  const { instance } = await WebAssembly.instantiate(readFileSync(join(dist, file)), {
    env: { emscripten_notify_memory_growth() {} },
  });
  const { memory, ...engine } = instance.exports;
  engine._initialize();
  const tokenizer = new Uint8Array(readModel(name)['tokenizer.model']);
  const place = (bytes) => {
    const address = engine.gf_alloc(bytes.length);
    new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
    return address;
  };
  let error;
  const call = (function_, ...inputs) => {
    if (error) return undefined;
    const passed = inputs.flatMap((input) =>
      typeof input === 'number' ? [input] : [place(input), input.length],
    );
    const status = engine[function_](...passed);
    const bytes = new Uint8Array(memory.buffer, engine.gf_result(), engine.gf_result_size());
    const answer = JSON.parse(new TextDecoder().decode(bytes));
    error = answer?.error;
    assert.equal(status, error ? 1 : 0);
    return answer;
  };
  const give = (file, bytes) => {
    const address = call('gf_load_file', encode(file), bytes.length);
    new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
  };
  call('gf_load_begin', encode('{"task": "text-classification"}'));
  give('config.json', encode(configuration));
  give('tokenizer.model', tokenizer);
  call('gf_load_found', encode('model.safetensors'), 1);
  call('gf_load_folder');
  const prefix = new Uint8Array(8);
  new DataView(prefix.buffer).setBigUint64(0, BigInt(encode(header).length), true);
  call('gf_load_header', new Uint8Array([...prefix, ...encode(header)]), dataSize);
  call('gf_load_plan');
  return { error, bytes: memory.buffer.byteLength };
}

const { header: goldenHeader, data } = splitSafetensors(readModel(name)['model.safetensors']);
const header = JSON.stringify(goldenHeader);
const usual = 32 << 20;

for (const binary of binaries) {
  const refused = async (code, json, tensors = header, most = usual) => {
    const { error, bytes } = await loadBegin(binary, json, tensors, data.length);
    assert.equal(error?.code, code, error?.message);
    assert.ok(bytes < most, `${error.message}: ${bytes} bytes`);
    return error.message;
  };
  const changed = (changes) => JSON.stringify({ ...config, ...changes });

  test(`${binary}: a configuration allocates no memory for missing weights`, async () => {
    const wide = { d_model: 16384, d_ff: 16384, n_heads: 16, encoder_layers: 1024 };
    await refused('shape_mismatch', changed({ ...wide, max_source_length: 16384 }));
    await refused('missing_tensor', changed({ encoder_layers: 1024 }));
    await refused('shape_mismatch', changed({ d_ff: 16384, encoder_layers: 1024 }));
    await refused('shape_mismatch', changed({ vocab_size: 1 << 24 }));
    const { error, bytes } = await loadBegin(
      binary,
      changed({ max_source_length: 1 << 20 }), // sinusoidal positions, which are not in a file
      header,
      data.length,
    );
    assert.equal(error, undefined);
    assert.ok(bytes < usual, `${bytes} bytes`);
  });

  test(`${binary}: hostile JSON takes a small multiple of its size`, async () => {
    const json = JSON.stringify({ a: Array.from({ length: 400_000 }, () => ({})) });
    assert.match(await refused('invalid_config', json), /at most 1048576 bytes, got 1200007/);
    const fields = Array.from({ length: 90_000 }, (_, i) => `"${i}":{}`);
    const message = await refused('invalid_config', `{${fields}}`);
    assert.match(message, /expected at most 1000 fields, got 90000/);
    const tensor = '{"dtype":"I8","shape":[0],"data_offsets":[0,0]}';
    const tensors = Array.from({ length: 200_000 }, (_, i) => `"${i}":${tensor}`);
    const many = `{${tensors}}`;
    await refused('invalid_safetensors', changed({}), many, 8 * many.length);
    const long = `{"${'x'.repeat(1 << 20)}":1}`;
    assert.ok((await refused('invalid_safetensors', changed({}), long)).length < 1100);
  });

  test(`${binary}: non-finite numbers are refused with the name of their tensor`, async () => {
    const files = readModel(name);
    for (const number of [NaN, Infinity, -Infinity]) {
      const weights = splitSafetensors(files['model.safetensors']);
      const bytes = weights.data.slice();
      const [begin] = weights.header['classifier.bias'].data_offsets;
      new DataView(bytes.buffer).setFloat32(begin + 4, number, true);
      const model = {
        ...files,
        'model.safetensors': joinSafetensors({ header: weights.header, data: bytes }),
      };
      for (const compute of ['f32', 'int8']) {
        await assertError(
          () => Classifier.load(model, { binary, compute }),
          'invalid_weights',
          new RegExp(`classifier\\.bias: expected finite numbers, got ${number} at element 1`),
        );
      }
    }
  });
}
