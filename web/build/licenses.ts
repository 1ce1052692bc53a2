import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Writes the licenses that must come with the build: ours and those of the typefaces. */
export function licenses(): Plugin {
  const require = createRequire(import.meta.url);
  const fonts = ['instrument-sans', 'newsreader'].map((font) =>
    require.resolve(`@fontsource-variable/${font}/LICENSE`),
  );
  return {
    name: 'licenses',
    generateBundle() {
      const files = [here('../../LICENSE'), here('../../THIRD_PARTY_NOTICES'), ...fonts];
      const texts = files
        .filter((file) => existsSync(file))
        .map((file) => readFileSync(file, 'utf8'));
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.join('\n\n') });
    },
  };
}
