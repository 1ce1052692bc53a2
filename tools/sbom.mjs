// Lists the libraries that are compiled into the binaries, and the one in chat.js, which npm does not
// count as dependencies. The texts of their licenses are in THIRD_PARTY_NOTICES.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.mjs';

const text = (file) => {
  const path = join(root, '.toolchain', file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

// Reads MAJOR.MINOR.PATCH from a header's definitions.
const defined = (prefix, ...files) => {
  const header = files.map(text).join('\n');
  const parts = ['MAJOR', 'MINOR', 'PATCH'].map(
    (part) => header.match(new RegExp(`define ${prefix}_VERSION_${part} (\\d+)`))?.[1],
  );
  return parts.includes(undefined) ? undefined : parts.join('.');
};

function libcxxVersion() {
  const folder = 'emscripten/cache/sysroot/include/c++/v1';
  const config = text(`${folder}/__config`);
  const number = config.match(/define _LIBCPP_VERSION (\d\d)(\d\d)(\d\d)/);
  return number?.slice(1).map(Number).join('.');
}

function libraries() {
  const emscripten = text('emscripten/emscripten-version.txt').match(/[\d.]+/)?.[0];
  const xtensor = ['include/xtensor/xtensor_config.hpp', 'include/xtensor/core/xtensor_config.hpp'];
  const list = [
    ['xtensor', defined('XTENSOR', ...xtensor), 'BSD-3-Clause', 'xtensor-stack/xtensor'],
    [
      'xtl',
      defined('XTL', 'include/xtl/xtl_config.hpp'),
      'BSD-3-Clause AND BSL-1.0',
      'xtensor-stack/xtl',
    ],
    [
      'xsimd',
      defined('XSIMD', 'include/xsimd/config/xsimd_config.hpp'),
      'BSD-3-Clause AND BSL-1.0',
      'xtensor-stack/xsimd',
    ],
    ['emscripten', emscripten, 'MIT', 'emscripten-core/emscripten'],
    ['musl', text('emscripten/system/lib/libc/musl/VERSION').trim() || undefined, 'MIT'],
    ['libc++', libcxxVersion(), 'Apache-2.0 WITH LLVM-exception'],
  ];
  return list.map(([name, version, expression, repository]) => ({
    type: 'library',
    'bom-ref': name,
    name,
    ...(version ? { version } : {}),
    scope: 'required',
    licenses: [{ expression }],
    ...(repository && version ? { purl: `pkg:github/${repository}@${version}` } : {}),
  }));
}

/**
 * Returns the package's bill of materials, a CycloneDX document that depends only on the contents.
 */
export async function billOfMaterials() {
  const options = ['--sbom-format', 'cyclonedx', '--package-lock-only', '--omit', 'dev'];
  const output = await run('npm', ['sbom', ...options, '--loglevel', 'error']);
  const { metadata, serialNumber: _, ...bom } = JSON.parse(output.slice(output.indexOf('{')));
  const components = [...bom.components, ...libraries()];
  const own = metadata.component;
  const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    ...bom,
    metadata: { lifecycles: metadata.lifecycles, component: { ...own, name } }, // no time, no folder
    components,
    dependencies: [{ ref: own['bom-ref'], dependsOn: components.map((part) => part['bom-ref']) }],
  };
}

/** Returns the bill of materials as text, with a line per component. */
export function licenseList({ metadata, components }) {
  const line = ({ name, version = 'of the compiler', licenses: [license] }) =>
    `${name.padEnd(12)} ${version.padEnd(16)} ${license.expression ?? license.license.id}\n`;
  return (
    "The package, and the libraries in its binaries; THIRD_PARTY_NOTICES has the licenses' texts.\n\n" +
    [metadata.component, ...components].map(line).join('')
  );
}
