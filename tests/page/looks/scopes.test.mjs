// The styles of a component do not affect others: each has its own scope class.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { filesIn, root } from '../../../tools/build.mjs';

const read = (file) => readFileSync(join(root, file), 'utf8');
const assets = join(root, 'web/dist/assets');

test('every component with a style has a scope class of its own', () => {
  const styled = filesIn('web/src').filter(
    (file) => file.endsWith('.svelte') && /^<style/m.test(read(file)),
  );
  assert.ok(styled.length > 50);
  const sheets = readdirSync(assets).filter((name) => name.endsWith('.css'));
  const scopes = new Set(
    sheets.flatMap((name) => readFileSync(join(assets, name), 'utf8').match(/\.svelte-\w+/g) ?? []),
  );
  assert.equal(scopes.size, styled.length, `${scopes.size} scopes, ${styled.length} styles`);
});
