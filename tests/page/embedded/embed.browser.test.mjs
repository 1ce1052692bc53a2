// A view embedded in another site's page, with and without the server's permission.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { testsOnPage } from '../on_page.mjs';
import {
  assertAccessible,
  launch,
  limit,
  openMenu,
  read,
  root,
  serve,
  settled,
  until,
} from '../open.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

async function serveFor(ancestors) {
  const { FRAME_ANCESTORS: before } = process.env;
  if (ancestors === undefined) delete process.env.FRAME_ANCESTORS;
  else process.env.FRAME_ANCESTORS = ancestors;
  try {
    return await serve(join(root, 'web/dist')); // a separate server with this setting
  } finally {
    if (before === undefined) delete process.env.FRAME_ANCESTORS;
    else process.env.FRAME_ANCESTORS = before;
  }
}

/** Another site, because "localhost" differs from "127.0.0.1". */
async function siteWith(html) {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end(`<!doctype html><title>A site</title>${html()}`);
  });
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  const close = () => new Promise((resolve) => server.close(resolve));
  return { url: `http://localhost:${server.address().port}/`, close };
}

// Copies the page's embedding code, and opens a page of another site that contains it.
async function framed(ancestors, body) {
  let code = '';
  const site = await siteWith(() => code);
  const server = await serveFor(ancestors === 'the site' ? new URL(site.url).origin : ancestors);
  const context = await browser.newContext({ serviceWorkers: 'block' });
  context.setDefaultTimeout(limit);
  try {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    await page.goto(`${server.url}#text=Dull.&head=2.3&draw=lines`);
    await settled(page);
    await openMenu(page);
    await page.getByRole('button', { name: 'Embed' }).click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    code = await page.evaluate(() => navigator.clipboard.readText());
    const refusals = [];
    page.on('console', (message) => refusals.push(message.text()));
    await page.goto(site.url);
    await body(page, refusals);
  } finally {
    await context.close();
    await Promise.all([server.close(), site.close()]);
  }
}

test('a site of the same computer may show the page that npm start serves', async () => {
  await framed(undefined, async (page) => {
    await page.frameLocator('iframe').getByTestId('lines').waitFor();
  });
});

test('an allowed site shows the view with its text, its head and its kind of drawing', async () => {
  await framed('the site', async (page) => {
    const frame = page.frameLocator('iframe');
    await frame.getByTestId('lines').waitFor();
    assert.equal(await frame.getByTestId('input').inputValue(), 'Dull.');
    assert.equal(await frame.getByTestId('verdict').textContent(), 'negative');
    assert.equal(await frame.locator('#head-title').textContent(), 'Layer 3, head 4');
    assert.equal(await frame.getByRole('navigation').count(), 0);
    assert.equal(await frame.getByRole('link', { name: 'Licenses' }).count(), 0);
    const whole = frame.getByRole('link', { name: 'Open the full Glassformer page' });
    assert.match(await whole.getAttribute('href'), /^#text=Dull\.&head=2\.3&draw=lines$/);
  });
});

test('a site without permission cannot show the page', async () => {
  await framed("'none'", async (page, refusals) => {
    await page.waitForFunction(() => document.readyState === 'complete');
    await page.waitForFunction(() => window.frames.length === 1);
    const shown = () => page.frames().filter((each) => each.url().includes('127.0.0.1')).length;
    const isRefused = (said) => said.includes("frame-ancestors 'none'");
    await until(page, () => refusals.join('\n'), isRefused);
    assert.equal(shown(), 0);
    assert.equal(await page.frameLocator('iframe').getByTestId('input').count(), 0);
  });
});

test('invalid origins are refused', async () => {
  await assert.rejects(serveFor("'self'; script-src *"), /FRAME_ANCESTORS: expected origins/);
});

const onPage = testsOnPage('#embed=1&text=Good.');

// While colors fade in, their contrast is low.
onPage(
  'an embedded view keeps its kind of address, and axe finds no violations',
  { reducedMotion: 'reduce' },
  async (page) => {
    await read(page, 'Very good.');
    await page.waitForURL(/#embed=1&text=Very/);
    await assertAccessible(page);
    assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1);
    assert.equal(
      await page.evaluate(() => Object.keys(sessionStorage).length),
      0,
      'several frames do not share what they show',
    );
  },
);

onPage(
  'the whole page says how to install it and where it comes from',
  { hash: '' },
  async (page) => {
    // The package is not published yet.
    assert.match(await page.getByTestId('install').getAttribute('href'), /#readme$/);
    const source = page.getByRole('link', { name: 'Source code' });
    assert.match(await source.getAttribute('href'), /\/glassformer\/glassformer$/);
  },
);
