// Styles of one component reach no other: each component's style has a scope class of its own.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn } from '../../wasm/toolchain/build.mjs';
import { testsOnPage } from './on_page.mjs';
import { root } from './open.mjs';

const onPage = testsOnPage();

const styled = filesIn('web/src').filter(
  (file) => file.endsWith('.svelte') && /^<style/m.test(readFileSync(join(root, file), 'utf8')),
);

onPage('every component with a style has a scope class of its own', {}, async (page) => {
  // A view's style sheet comes with the view.
  for (const name of ['Inside', 'Sentiment']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.locator('main[aria-busy="false"]').waitFor();
  }
  const scopes = await page.evaluate(() => {
    const found = new Set();
    const collect = (rules) => {
      for (const rule of rules) {
        for (const [name] of rule.selectorText?.matchAll(/\.s-[0-9a-z]+/g) ?? []) found.add(name);
        if (rule.cssRules) collect(rule.cssRules);
      }
    };
    for (const { cssRules } of document.styleSheets) collect(cssRules);
    return [...found];
  });
  assert.equal(scopes.length, styled.length, `${scopes.length} scopes, ${styled.length} styles`);
});
