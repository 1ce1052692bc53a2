// The limits on the code of the built page, for size-limit: what a visitor fetches until the first
// verdict, and what opening each further view adds to that.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../tools/build.mjs';

const { start, views } = JSON.parse(readFileSync(join(root, 'build/page_chunks.json'), 'utf8'));
const files = (names) => names.map((name) => join(root, 'web/dist', name));

export default [
  { name: 'the page until the first verdict', path: files(start), limit: '64.5 kB', gzip: true },
  ...Object.entries(views).map(([name, chunks]) => ({
    ...{ name: `the view ${name}`, path: files(chunks), limit: '40 kB', gzip: true },
  })),
];
