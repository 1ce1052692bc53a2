import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertFits, faded, frames, launch, serve, visit } from './open.mjs';

/** Runs a file's tests, each on a newly opened page at `hash` or at the hash of its options. */
export function testsOnPage(hash = '') {
  let browser, server;
  before(async () => {
    [browser, server] = await Promise.all([launch(), serve()]);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });
  return (name, options, body) =>
    test(name, () => visit(browser, server.url + (options.hash ?? hash), options, body));
}

/**
 * Tests the main way through the view at `hash`, for `npm test`: `act(page)` uses it and compares its
 * numbers with those of the package. Then axe must find nothing, and the page must fit a wide and a
 * narrow window.
 */
export function mainWay(name, hash, act) {
  testsOnPage(hash)(name, {}, async (page) => {
    await act(page);
    await assertFits(page, 'wide');
    await faded(page);
    await assertAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await frames(page, 2); // for what is drawn to the new width
    await assertFits(page, 'narrow');
  });
}

/** Returns the numbers that elements show. */
export const valuesOf = (locator) =>
  locator.evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));

/** Fails if two lists of numbers differ. The page may run another binary, which rounds differently. */
export function assertNear(actual, expected, what, tolerance = 2e-3) {
  assert.equal(actual.length, expected.length, `${what}: how many`);
  for (const [i, value] of actual.entries()) {
    const error = Math.abs(value - expected[i]);
    assert.ok(error <= tolerance, `${what}, ${i}: ${value}, not ${expected[i]}`);
  }
}
