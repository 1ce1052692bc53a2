import { after, before, test } from 'node:test';
import { launch, serve, visit } from './open.mjs';

/** A file's tests that need no more than the page, opened anew for each: at `hash`, or an option's. */
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
