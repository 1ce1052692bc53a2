// Installs missing requirements of the build and the tests:
//
//   node tools/setup.mjs GROUP...    groups: build, native, test, bench, peers
//
// - system packages of the running release (only as root on Debian; elsewhere the command or the
//   list to install is printed and the exit status is 1),
// - Emscripten and header-only libraries, unpacked into .toolchain/ from Debian's archive,
// - npm packages.
//
// If nothing is missing, it takes much less than a second.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const toolchain = join(root, '.toolchain');
const minimumNode = [20, 16];
const minimumEmscripten = [3, 1, 69];

// The requirements of each group: `debian` names packages, `commands` names programs on any system.
const groups = {
  build: {
    debian: ['cmake', 'ninja-build', 'clang-19', 'lld-19', 'llvm-19', 'python3'],
    commands: ['cmake', 'ninja', 'python3'],
    wasm: true,
  },
  native: {
    debian: [
      'cmake',
      'ninja-build',
      'g++',
      'libjpeg62-turbo-dev', // this and the next two: picture files
      'libpng-dev',
      'libwebp-dev',
      'libssl-dev',
    ],
    commands: ['cmake', 'ninja', 'c++'],
  },
  test: {
    debian: [
      'chromium', // for extensions
      'chromium-headless-shell', // for pages: half of the time
      'clang-format',
      'fonts-dejavu-core',
      'libclang-rt-19-dev',
      'parallel',
      'python3-dev', // this and the next two: the Python package
      'python3-numpy',
      'python3-pip',
      'sentencepiece',
    ],
    commands: ['chromium', 'clang-format', 'spm_encode'],
  },
  // For training with several processes, which only `npm run test:full` tests.
  mpi: { debian: ['libopenmpi-dev', 'openmpi-bin'], commands: [] },
  bench: { debian: ['python3-numpy', 'python3-onnx'], commands: ['python3'] },
  // To build CTranslate2, which `npm run bench -- --peers` compares with.
  peers: {
    debian: [
      'libcpu-features-dev',
      'libdnnl-dev',
      'libomp5',
      'libopenblas-openmp-dev',
      'libspdlog-dev',
    ],
    commands: [],
  },
};

// Unpacked from Debian 13 into .toolchain/debian. Its binaryen needs a newer libc than Debian 12's,
// which is unpacked, too, and used only for binaryen.
const archiveSuite = 'trixie';
const compilerDebs = ['emscripten', 'binaryen', 'node-acorn', 'libc6', 'libstdc++6', 'libgcc-s1'];
const headerDebs = [
  'libxtensor-dev',
  'xtl-dev',
  'libxsimd-dev',
  'nlohmann-json3-dev',
  'libcli11-dev',
  'libcatch2-dev',
  'nanobind-dev', // this and the next one: the Python package
  'robin-map-dev',
];
// Parts of the Emscripten package that no build here links against (two thirds of its 1.7 GB).
const unwanted = [
  ...[
    '*-mt*',
    '*-debug*',
    '*-ww*',
    '*asan*',
    '*noexcept*',
    'libGL-[efow]*',
    'libwasmfs*',
    'libwebgpu*',
  ].map((name) => `*/wasm32-emscripten/lto/${name}`),
  '*/wasm32-emscripten/lto-pic',
  '*/wasm32-emscripten/pic',
  './usr/share/doc',
  './usr/share/emscripten/docs',
];

// Header libraries: a file that must exist, and the oldest supported version.
const headers = [
  {
    dir: 'xtensor',
    probe: ['xtensor/xtensor_config.hpp', 'xtensor/core/xtensor_config.hpp'],
    version: /define XTENSOR_VERSION_(?:MAJOR|MINOR) (\d+)/g,
    minimum: [0, 25],
  },
  {
    dir: 'xtl',
    probe: ['xtl/xtl_config.hpp'],
    version: /define XTL_VERSION_(?:MAJOR|MINOR) (\d+)/g,
    minimum: [0, 7],
  },
  {
    dir: 'xsimd',
    probe: ['xsimd/config/xsimd_config.hpp'],
    version: /define XSIMD_VERSION_(?:MAJOR|MINOR) (\d+)/g,
    minimum: [13, 0],
  },
  {
    dir: 'nlohmann',
    probe: ['nlohmann/json.hpp', 'nlohmann/detail/abi_macros.hpp'],
    version: /define NLOHMANN_JSON_VERSION_(?:MAJOR|MINOR) (\d+)/g,
    minimum: [3, 10],
  },
  {
    dir: 'CLI',
    probe: ['CLI/Version.hpp'],
    version: /define CLI11_VERSION_(?:MAJOR|MINOR) (\d+)/g,
    minimum: [2, 1],
  },
  {
    dir: 'catch2',
    probe: ['catch2/catch_version_macros.hpp'],
    version: /define CATCH_VERSION_(?:MAJOR|MINOR) (\d+)/g,
    minimum: [3, 0],
  },
];

function say(text) {
  console.log(`set-up: ${text}`);
}

function fail(text) {
  console.error(`set-up: ${text}`);
  process.exit(1);
}

/** Runs a program. Ends the set-up, with the program's output, if it fails. */
function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    const failed = (reason = '') => {
      process.stderr.write(output);
      fail(`failed: ${command} ${args.join(' ')}${reason}`);
    };
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    child.on('error', (error) => failed(` (${error.message})`));
    child.on('close', (status) => (status === 0 ? resolve() : failed()));
  });
}

function outputOf(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  return result.status === 0 ? result.stdout : undefined;
}

function findCommand(name) {
  for (const folder of (process.env.PATH ?? '').split(':')) {
    if (folder && existsSync(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

function atLeast(version, minimum) {
  for (let i = 0; i < minimum.length; ++i) {
    if ((version[i] ?? 0) !== minimum[i]) return (version[i] ?? 0) > minimum[i];
  }
  return true;
}

function numbers(text) {
  return text.split('.').map((part) => Number.parseInt(part, 10));
}

function hash(...texts) {
  const sum = createHash('sha256');
  for (const text of texts) sum.update(text).update('\0');
  return sum.digest('hex');
}

// A stamp has the hash of the inputs of a finished step.
function stamped(file, value) {
  return existsSync(file) && readFileSync(file, 'utf8') === value;
}

function osRelease() {
  const text = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const field = (name) => text.match(new RegExp(`^${name}="?([^"\n]*)`, 'm'))?.[1] ?? '';
  return { id: field('ID'), codename: field('VERSION_CODENAME') };
}

// --- system packages ---------------------------------------------------------------------------

async function installDebianPackages(wanted) {
  const listed = spawnSync(
    'dpkg-query',
    ['-W', '-f', '${Package} ${db:Status-Status}\n', ...wanted],
    { encoding: 'utf8' },
  ).stdout;
  const installed = new Set(
    listed
      .split('\n')
      .filter((line) => line.endsWith(' installed'))
      .map((l) => l.split(' ')[0]),
  );
  const missing = wanted.filter((name) => !installed.has(name));
  if (missing.length === 0) return;
  const line = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  if (process.getuid() !== 0) {
    fail(`system packages are missing; please run\n\n  sudo ${line}\n\nand start again.`);
  }
  say(`installing ${missing.join(', ')} (usually under two minutes)`);
  const lock = ['-o', 'DPkg::Lock::Timeout=600'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', [...lock, 'update'], { env });
  await run('apt-get', [...lock, ...line.split(' ').slice(1)], { env });
}

function requireCommands(wanted, needsWasm) {
  const missing = wanted
    .filter((name) => !findCommand(name))
    .filter((name) => name !== 'chromium' || !process.env.CHROMIUM);
  if (missing.length === 0) return;
  fail(
    `these programs are missing on PATH: ${missing.join(', ')}. Please install them: cmake >= ` +
      '3.25, ninja, a C++20 compiler (g++ >= 12 or clang >= 15), OpenSSL 3, libpng, libjpeg-turbo and libwebp with their headers, python3, ' +
      'and for the tests chromium (CHROMIUM may name its path), clang-format 14 and sentencepiece' +
      (needsWasm ? ', and Emscripten >= 3.1.69 (https://emscripten.org)' : '') +
      '.',
  );
}

// --- Emscripten and headers --------------------------------------------------------------------

// Returns the folder of emcc.py, if PATH has an Emscripten that is new enough. Some packages only
// put a start script on PATH (Debian, Homebrew).
function findEmscripten() {
  const emcc = findCommand('emcc');
  const text = emcc && outputOf(emcc, ['--version']);
  const version = text?.match(/(\d+\.\d+\.\d+)/)?.[1];
  if (!version || !atLeast(numbers(version), minimumEmscripten)) return undefined;
  const folder = dirname(realpathSync(emcc));
  return [folder, join(folder, '../libexec'), '/usr/share/emscripten'].find((place) =>
    existsSync(join(place, 'emcc.py')),
  );
}

// Returns the machine's apt entry for its release, changed to `suite` with sources.
function archiveSource(codename, suite) {
  const folder = '/etc/apt/sources.list.d';
  const files = [
    '/etc/apt/sources.list',
    ...(existsSync(folder)
      ? readdirSync(folder)
          .sort()
          .map((name) => join(folder, name))
      : []),
  ];
  for (const file of files.filter((name) => existsSync(name))) {
    const text = readFileSync(file, 'utf8');
    if (file.endsWith('.sources')) {
      for (const stanza of text.replace(/^#.*\n/gm, '').split(/\n\s*\n/)) {
        const suites =
          stanza
            .match(/^Suites:(.*)$/m)?.[1]
            .trim()
            .split(/\s+/) ?? [];
        if (!suites.includes(codename) || /^Enabled:\s*no/m.test(stanza)) continue;
        const kept = stanza
          .trim()
          .split('\n')
          .filter((line) => !/^(Types|Suites|Components):/.test(line))
          .join('\n');
        return {
          name: `${suite}.sources`,
          text: `Types: deb deb-src\nSuites: ${suite}\nComponents: main\n${kept}\n`,
        };
      }
    } else if (file.endsWith('.list')) {
      for (const line of text.split('\n')) {
        const match = line.match(/^\s*deb\s+(\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s/);
        if (match?.[3] !== codename) continue;
        const rest = `${match[1] ?? ''}${match[2]} ${suite} main\n`;
        return { name: `${suite}.list`, text: `deb ${rest}deb-src ${rest}` };
      }
    }
  }
  return fail(`no apt source for Debian's suite ${codename} was found in /etc/apt`);
}

// Downloads packages, and sources if any are named, of one suite.
async function downloadFromArchive(suite, debs, sourcePackages, folder, codename) {
  const source = archiveSource(codename, suite);
  const apt = join(folder, `apt-${suite}`);
  for (const name of ['lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(apt, name), { recursive: true });
  }
  writeFileSync(join(apt, source.name), source.text);
  const options = [
    `Dir::Etc::SourceList=${join(apt, source.name)}`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${join(apt, 'lists')}`,
    `Dir::Cache=${join(apt, 'cache')}`,
    'Dir::State::status=/dev/null',
    'APT::Sandbox::User=',
    'Acquire::Languages=none',
  ].flatMap((option) => ['-o', option]);
  await run('apt-get', [...options, 'update'], { cwd: folder });
  await run('apt-get', [...options, 'download', ...debs], { cwd: folder });
  if (sourcePackages.length > 0) {
    await run('apt-get', [...options, 'source', '--download-only', ...sourcePackages], {
      cwd: folder,
    });
  }
}

// Writes a script that starts a program of Debian 13 with Debian 13's dynamic linker.
function wrapBinaryen(folder) {
  const debian = join(toolchain, 'debian');
  const libraries = readdirSync(join(folder, 'usr/lib')).find((name) =>
    name.includes('-linux-gnu'),
  );
  const linker = readdirSync(join(folder, 'usr/lib', libraries)).find((n) =>
    n.startsWith('ld-linux'),
  );
  mkdirSync(join(folder, 'binaryen/bin'), { recursive: true });
  for (const name of readdirSync(join(folder, 'usr/bin')).filter((n) => n.startsWith('wasm'))) {
    const file = join(folder, 'binaryen/bin', name);
    writeFileSync(
      file,
      `#!/bin/sh\nexec '${debian}/usr/lib/${libraries}/${linker}' --library-path ` +
        `'${debian}/usr/lib/${libraries}' '${debian}/usr/bin/${name}' "$@"\n`,
    );
    chmodSync(file, 0o755);
  }
}

async function unpackArchive(withCompiler, codename) {
  const stamp = join(toolchain, 'debian/stamp');
  const debs = [...headerDebs, ...(withCompiler ? compilerDebs : [])];
  // The wrappers contain absolute paths, so a moved checkout unpacks again.
  const hashOf = (names) => hash(root, process.execPath, archiveSuite, ...names, ...unwanted);
  const value = hashOf(debs);
  const full = hashOf([...headerDebs, ...compilerDebs]);
  if (stamped(stamp, value) || stamped(stamp, full)) return;
  say(
    withCompiler
      ? 'downloading Emscripten and header libraries into .toolchain (250 MB; a minute or two)'
      : 'downloading header libraries into .toolchain (a few seconds)',
  );
  mkdirSync(toolchain, { recursive: true });
  const work = mkdtempSync(join(toolchain, 'unpack-'));
  const folder = join(work, 'debian');
  try {
    await downloadFromArchive(archiveSuite, debs, ['catch2'], work, codename);
    mkdirSync(folder);
    const excluded = unwanted.map((pattern) => `--exclude=${pattern}`);
    for (const name of readdirSync(work).filter((file) => file.endsWith('.deb'))) {
      const script =
        'file="$1" folder="$2"; shift 2; ' +
        'dpkg-deb --fsys-tarfile "$file" | tar -x --no-same-owner -C "$folder" "$@"';
      await run('sh', ['-c', script, 'sh', join(work, name), folder, ...excluded]);
    }
    const source = readdirSync(work).find((name) => /^catch2_.*\.orig\.tar/.test(name));
    await run('tar', [
      '-xf',
      join(work, source),
      '-C',
      folder,
      '--strip-components=2',
      '--wildcards',
      '*/extras/catch_amalgamated.*',
    ]);
    if (withCompiler) {
      wrapBinaryen(folder);
      const emscripten = join(folder, 'usr/share/emscripten');
      mkdirSync(join(emscripten, 'node_modules'), { recursive: true });
      symlinkSync('../../nodejs/acorn', join(emscripten, 'node_modules/acorn'));
      // Otherwise the project's own package.json would make modules of Emscripten's scripts.
      writeFileSync(join(emscripten, 'package.json'), '{}\n');
      const debian = join(toolchain, 'debian');
      writeFileSync(
        join(emscripten, '.emscripten'),
        [
          "LLVM_ROOT = '/usr/bin'",
          "LLVM_ADD_VERSION = '19'",
          "CLANG_ADD_VERSION = '19'",
          `BINARYEN_ROOT = '${debian}/binaryen'`,
          `NODE_JS = '${process.execPath}'`,
          'FROZEN_CACHE = True',
          `CACHE = '${debian}/usr/share/emscripten/cache'`,
          '',
        ].join('\n'),
      );
    }
    writeFileSync(join(folder, 'stamp'), value);
    rmSync(join(toolchain, 'debian'), { recursive: true, force: true });
    renameSync(folder, join(toolchain, 'debian'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function point(link, target) {
  if (existsSync(link) && realpathSync(link) === realpathSync(target)) return;
  rmSync(link, { recursive: true, force: true });
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link);
}

// A folder of links: the wasm build must see only these libraries of the system's include folder.
function linkHeaders(includeFolders) {
  for (const { dir, probe, version, minimum } of headers) {
    const good = includeFolders.find((folder) =>
      probe.some((file) => {
        const path = join(folder, file);
        if (!existsSync(path)) return false;
        if (!version) return true;
        const found = [...readFileSync(path, 'utf8').matchAll(version)].map((match) =>
          Number(match[1]),
        );
        return found.length >= 2 && atLeast(found, minimum);
      }),
    );
    if (!good) {
      fail(
        `the header library ${dir}${minimum ? ` >= ${minimum.join('.')}` : ''} was not found in ` +
          `${includeFolders.join(', ')}. Please install xtensor, xtl, xsimd, nlohmann-json, ` +
          'CLI11 and Catch2 3, or name their folder in GLASSFORMER_INCLUDE.',
      );
    }
    point(join(toolchain, 'include', dir), join(good, dir));
  }
}

async function prepareToolchain(needsWasm, found, release) {
  const link = join(toolchain, 'emscripten');
  if (release.id === 'debian') {
    await unpackArchive(needsWasm && !found, release.codename);
    linkHeaders([join(toolchain, 'debian/usr/include')]);
    // For the Python package. Elsewhere pip installs nanobind, which has a copy of the other.
    point(join(toolchain, 'nanobind'), join(toolchain, 'debian/usr/share/nanobind'));
    point(join(toolchain, 'include/tsl'), join(toolchain, 'debian/usr/include/tsl'));
    if (needsWasm) point(link, found ?? join(toolchain, 'debian/usr/share/emscripten'));
    return;
  }
  if (needsWasm && !found) {
    fail(
      'Emscripten >= 3.1.69 was not found. Please install it (https://emscripten.org) so that ' +
        'emcc is on PATH.',
    );
  }
  linkHeaders(
    [
      process.env.GLASSFORMER_INCLUDE,
      '/usr/include',
      '/usr/local/include',
      '/opt/homebrew/include',
    ].filter(Boolean),
  );
  if (found) point(link, found);
}

// --- npm ---------------------------------------------------------------------------------------

async function installNpmPackages() {
  const stamp = join(root, 'node_modules/.stamp');
  const value = hash(readFileSync(join(root, 'package-lock.json'), 'utf8'), process.version);
  if (stamped(stamp, value)) return;
  say('installing npm packages (under a minute)');
  await run('npm', [existsSync(join(root, 'node_modules')) ? 'install' : 'ci'], { cwd: root });
  writeFileSync(stamp, value);
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in groups));
if (names.length === 0 || unknown.length > 0) {
  fail(`usage: node tools/setup.mjs GROUP...   groups: ${Object.keys(groups).join(', ')}`);
}
if (!atLeast(numbers(process.versions.node), minimumNode)) {
  fail(`Node ${minimumNode.join('.')} or newer is needed, this is ${process.versions.node}`);
}
const chosen = names.map((name) => groups[name]);
const needsWasm = chosen.some((group) => group.wasm);
const emscripten = needsWasm ? findEmscripten() : undefined;
const release = osRelease();
// The archive is downloaded while packages are installed: neither needs the other.
const work = [installNpmPackages()];
if (needsWasm || names.includes('native'))
  work.push(prepareToolchain(needsWasm, emscripten, release));
if (release.id === 'debian') {
  const llvm = /^(clang|lld|llvm)-\d+$/;
  const wanted = new Set(chosen.flatMap((group) => group.debian));
  work.push(installDebianPackages([...wanted].filter((name) => !emscripten || !llvm.test(name))));
} else {
  requireCommands([...new Set(chosen.flatMap((group) => group.commands))], needsWasm);
}
await Promise.all(work);
