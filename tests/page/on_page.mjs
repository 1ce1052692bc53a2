import { after, before, test } from 'node:test';
import { launch, serve, visit } from './open.mjs';

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
