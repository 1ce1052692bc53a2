// Configures and builds the presets of CMakePresets.json.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn, root, run } from './run.mjs';
import { unlessDone, withOldDates } from './stamps.mjs';

// em++ starts Python for every file. Version managers install python3 as a script that searches for
// the real one, which may take longer than a compilation. So the real one is searched for once.
async function pythonForEmscripten() {
  if (process.env.EMSDK_PYTHON) return {};
  const path = await run('python3', ['-c', 'import sys; print(sys.executable)']).catch(() => '');
  return path.trim() ? { EMSDK_PYTHON: path.trim() } : {};
}

/** The Clang that compiles for WebAssembly, if it is Debian's. */
export const findCompiler = () => ['/usr/bin/clang++-19'].find((file) => existsSync(file));

/**
 * Finds the Python that the tests build the package in python/ for, and the folder of its headers.
 * Returns undefined if something that they need is missing.
 */
export async function findPython() {
  if (!existsSync(join(root, '.toolchain/nanobind'))) return undefined;
  const script = "import numpy, pip, sysconfig, wheel; print(sysconfig.get_path('include'))";
  for (const python of ['/usr/bin/python3', 'python3']) {
    const include = (await run(python, ['-c', script]).catch(() => '')).trim();
    if (existsSync(join(include, 'Python.h'))) return { python, include };
  }
  return undefined;
}

const withLld = (kind) => `-DCMAKE_${kind}_LINKER_FLAGS=-fuse-ld=lld`;

async function optionsFor(preset) {
  if (preset !== 'test') return [];
  const options = [];
  // Clang compiles the tests in two thirds of GCC's time, and LLVM's linker is faster, too.
  const compiler = findCompiler();
  if (compiler) options.push(`-DCMAKE_CXX_COMPILER=${compiler}`, ...['EXE', 'MODULE'].map(withLld));
  const python = await findPython();
  if (python) options.push(`-DGLASSFORMER_PYTHON_INCLUDE=${python.include}`);
  return options;
}

/**
 * Configures one preset of CMakePresets.json, if the presets changed, and builds it or some
 * targets.
 */
export async function cmake(preset, ...targets) {
  const forWasm = /^(quick|wasm)/.test(preset);
  const env = forWasm ? await pythonForEmscripten() : {};
  const inputs = [
    'CMakePresets.json',
    'tools/cmake.mjs',
    'tools/emscripten.cmake',
    '.toolchain/debian/stamp',
  ];
  await unlessDone(`configure-${preset}`, inputs, [`build/${preset}/build.ninja`], async () =>
    run('cmake', ['--fresh', '--preset', preset, ...(await optionsFor(preset))], { env }),
  );
  const wanted = targets.length > 0 ? ['--target', ...targets] : [];
  const build = () =>
    run('cmake', ['--build', '--preset', preset, ...wanted], { env, patient: true });
  const sources = ['CMakeLists.txt', 'tools/cmake', 'src', 'wasm'];
  if (!forWasm) sources.push('python', 'tests/native', 'tests/fuzz');
  await withOldDates(`dates-${preset}`, sources, `build/${preset}/.ninja_log`, () =>
    build().catch((error) => {
      // An update of the system brings headers with dates before ours, which only Clang notices.
      if (!/modified since the precompiled/.test(error.output ?? '')) throw error;
      for (const file of filesIn(`build/${preset}/CMakeFiles`))
        if (file.endsWith('.pch')) rmSync(join(root, file));
      return build();
    }),
  );
}
