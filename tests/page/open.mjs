// Opens the built page in Chromium, served as by `npm start`. Records all requests and all errors of
// the browser.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { executablePath, flags } from './chromium.mjs';
import { source } from './source.mjs';

/** The limit for all waiting, in milliseconds: more than anything takes on a busy machine. */
export const limit = 120_000;

export const root = fileURLToPath(new URL('../..', import.meta.url));

// Serves a folder of built files, by default the page. Resolves to { url, close }. `npm test` serves
// the page and starts Chromium once for all test files.
export async function serve(folder) {
  const shared = process.env.GLASSFORMER_PAGE;
  if (!folder && shared) return { url: shared, close: () => {} };
  const { preview } = await import('vite');
  const server = await preview({
    configFile: join(root, 'web/vite.config.ts'),
    logLevel: 'error',
    build: { outDir: folder ?? join(root, 'web/dist') },
    preview: { host: '127.0.0.1', port: 0 },
  });
  const { port } = server.httpServer.address();
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

// Returns the Chromium of `npm test`, or a new one.
export function launch({ shared = process.env.GLASSFORMER_CHROMIUM } = {}) {
  return shared ? chromium.connect(shared) : chromium.launch({ executablePath, args: flags });
}

function showDetails() {
  try {
    localStorage.setItem('glassformer-details', 'shown');
  } catch {
    // A page without an origin, or storage that a test disables.
  }
}

// Opens a page in its own browser profile. `complaints` collects what must not happen: requests to
// other origins, violations of the Content-Security-Policy, errors in the console. The views show all
// of their details, except to a `newcomer`.
export async function open(browser, url, { expectErrors = false, newcomer, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    serviceWorkers: 'block',
    ...options,
  });
  context.setDefaultTimeout(limit);
  if (!newcomer) await context.addInitScript(showDetails);
  const complaints = [];
  const { origin } = new URL(url);
  context.on('request', (request) => {
    const target = new URL(request.url());
    if (target.protocol !== 'blob:' && target.origin !== origin)
      complaints.push(`request ${target}`);
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(`error ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !expectErrors) complaints.push(`console ${message.text()}`);
  });
  await page.exposeFunction('complain', (text) => complaints.push(text));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      window.complain(`policy ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  const response = await page.goto(url);
  return { context, page, complaints, response };
}

// Types a text and waits until the page shows the model's answer.
export async function read(page, text) {
  await page.getByTestId('input').fill(text);
  await settled(page);
}

// Waits until the page has answered the current text, with the current interventions.
export async function settled(page) {
  await page.locator('main[aria-busy="false"]').waitFor();
}

// Runs `body` on a new page that has answered its first text. There must be no complaints.
export async function visit(browser, url, options, body) {
  const opened = await open(browser, url, options);
  const { complaints } = opened;
  try {
    await settled(opened.page);
    await body(opened.page, opened);
    assert.deepEqual(complaints, []);
  } catch (error) {
    // The page's complaints may be the reason.
    if (complaints.length > 0) error.message += `\nThe page: ${complaints.join('\n')}`;
    throw error;
  } finally {
    await opened.context.close();
  }
}

// Runs `body` on a copy of the built page, which `spoil(folder)` may change before it is opened, at
// `path` of a server that `disconnect()` stops. Deletes the copy in any case.
export async function visitCopy(browser, { path = '', hash = '', spoil, ...options }, body) {
  const top = await mkdtemp(join(tmpdir(), 'glassformer-'));
  try {
    const folder = join(top, path);
    await cp(join(root, 'web/dist'), folder, { recursive: true });
    await spoil?.(folder);
    const server = await serve(top);
    let ended;
    const disconnect = () => (ended ??= server.close());
    try {
      const opened = await open(browser, `${server.url}${path}${hash}`, options);
      try {
        await body(opened.page, { ...opened, folder, disconnect });
      } finally {
        await opened.context.close();
      }
    } finally {
      await disconnect();
    }
  } finally {
    await rm(top, { recursive: true });
  }
}

/**
 * Calls `look` once per frame of the page until `is` holds for its result, and returns that result.
 * Fails with the last result if it never holds.
 */
export async function until(page, look, is) {
  const deadline = Date.now() + limit;
  for (;;) {
    const seen = await look();
    if (is(seen)) return seen;
    assert.ok(Date.now() < deadline, `still ${JSON.stringify(seen)}`);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
}

/** Opens the menu of the page, with its link, theme and speed. */
export const openMenu = (page) => page.getByLabel('This page', { exact: true }).click();

let table;
/** Follows the masthead's link to a view or to a part of one: through its door, or in the menu. */
export async function goTo(page, title) {
  const { behind, doors, views } = await (table ??= source('views/index'));
  const nav = page.getByRole('navigation', { name: 'Views' });
  if (views.some((view) => view.title === title && !view.door)) {
    await openMenu(page);
    return page.getByRole('link', { name: title, exact: true }).last().click();
  }
  const titled = ({ view, part }) => (part ?? view).title === title;
  const door = doors.find(({ name }) => behind(name).some(titled));
  const link = nav.getByRole('link', { name: title, exact: true });
  if ((await link.count()) === 0) {
    await nav.getByRole('link', { name: door.title }).click();
    const [first] = behind(door.name);
    if ((first.part ?? first.view).title === title) return;
  }
  await link.click();
}

/** Waits until the page has drawn this number of frames. */
export const frames = (page, count) =>
  page.evaluate(async (left) => {
    while (left-- > 0) await new Promise(requestAnimationFrame);
  }, count);

// Waits until the service worker has stored a file of the page's folder for offline use.
export async function kept(page, file) {
  const look = () =>
    page.evaluate(async (name) => ((await caches.match(name)) ? 'kept' : `no ${name}`), file);
  await until(page, look, (seen) => seen === 'kept');
}

/** Returns the bytes of the file that a button saves. */
export async function savedBy(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const chunks = await (await download.createReadStream()).toArray();
  return Buffer.concat(chunks);
}

/**
 * Waits until this number of workers runs in the page, by the browser's own list: of a worker that was
 * started by another one and ends together with it, Playwright may miss the end. Resolves to their ids.
 */
export async function workersLeft(page, count) {
  const session = await page.context().newCDPSession(page);
  const { targetInfo: own } = await session.send('Target.getTargetInfo');
  const browser = await page.context().browser().newBrowserCDPSession();
  const look = async () => {
    const { targetInfos } = await browser.send('Target.getTargets', {
      filter: [{ type: 'worker' }],
    });
    const ours = targetInfos.filter(({ parentFrameId }) => parentFrameId === own.targetId);
    return ours.map(({ targetId }) => targetId);
  };
  const running = await until(page, look, (ids) => ids.length === count);
  await Promise.all([session.detach(), browser.detach()]);
  return running;
}

/** Waits until only the workers of one model are left, of which there is one per thread. */
export async function threadsLeft(page) {
  const cores = await page.evaluate(() => navigator.hardwareConcurrency);
  await workersLeft(page, Math.min(cores, 8));
}

/** Fails if the page is wider than its window. `what` describes the contents in the message. */
export async function assertFits(page, what = '') {
  const [inner, outer] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(inner <= outer, `${inner} wide in ${outer} ${what}`);
}

/** Fails if something scrolls sideways at one of these widths. The window has its size again afterwards. */
export async function assertFitsAt(page, widths, what = '') {
  const size = page.viewportSize();
  for (const width of widths) {
    await page.setViewportSize({ ...size, width });
    await frames(page, 2); // for what is drawn to the new width
    await assertFits(page, `${what} at ${width}`);
  }
  await page.setViewportSize(size);
}

/** Fails if axe finds violations on the page, of all its rules or of those in `runOnly`. */
export async function assertAccessible(page, what = '', runOnly = undefined) {
  if (!(await page.evaluate(() => 'axe' in window))) {
    const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
    await page.evaluate(await readFile(axe, 'utf8'));
  }
  const violations = await page.evaluate(async (rules) => {
    const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
    return (await window.axe.run(options)).violations;
  }, runOnly);
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`),
    [],
    what,
  );
}

const looks = Object.entries({
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  'forced colors': { colorScheme: 'light', forcedColors: 'active' },
  light: { colorScheme: 'light', forcedColors: 'none' },
});

/**
 * Emulates media and waits until the page has this theme. Chromium tells the page of the change when
 * it draws the next frame. If the page never has the theme, the message says what Chromium told it.
 */
export async function emulate(page, media, theme = media.colorScheme) {
  await page.evaluate(() => {
    window.told = [];
    window.systemTheme ??= matchMedia('(prefers-color-scheme: dark)');
    window.systemTheme.onchange = ({ matches }) => window.told.push(matches ? 'dark' : 'light');
  });
  await page.emulateMedia(media);
  const look = () =>
    page.evaluate(() => ({
      page: document.documentElement.dataset.theme,
      system: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
      told: window.told,
    }));
  await until(page, look, (seen) => seen.page === theme);
}

/** Waits until colors have faded in: axe would see a color on its way. */
export async function faded(page) {
  const fading = () =>
    page.evaluate(
      () => document.getAnimations().filter((each) => each instanceof CSSTransition).length,
    );
  await until(page, fading, (count) => count === 0);
}

/** Checks the page with every choice of colors: all rules with the first, then the rule about colors. */
export async function assertAccessibleToAll(page, what = '') {
  for (const [i, [look, colors]] of looks.entries()) {
    await emulate(page, colors);
    await faded(page);
    await assertAccessible(page, `${what} ${look}`, i === 0 ? undefined : ['color-contrast']);
  }
}
