// Opens a page in Chromium, Firefox or WebKit and waits for the outcome that it prints.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { executablePath, flags, wholePath } from '../page/chromium.mjs';
import { outcomeIn } from './judge.mjs';
import { Untried } from './project.mjs';
import { WebKit } from './webkit.mjs';

const firefoxPath = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
const limit = 120_000; // milliseconds until a page must print its outcome

const opened = {};

async function open(name, driver) {
  if (name === 'chromium') return chromium.launch({ executablePath, args: flags });
  if (name === 'webkit') return WebKit.open();
  if (!existsSync(firefoxPath)) throw new Untried('needs the Debian package firefox-esr');
  const puppeteer = createRequire(join(driver.folder, 'package.json'))('puppeteer-core');
  return puppeteer.launch({ browser: 'firefox', executablePath: firefoxPath, headless: true });
}

/**
 * Opens `url`. Resolves to the outcome and, if the driver reports them, the browser's error
 * messages and the number of workers that started.
 */
export async function browse(url, name = 'chromium', driver) {
  const browser = await (opened[name] ??= open(name, driver));
  if (name === 'webkit') return { outcome: await browser.outcome(url, limit) };
  const context = await (name === 'chromium'
    ? browser.newContext()
    : browser.createBrowserContext());
  try {
    return await watch(await context.newPage(), url);
  } finally {
    await context.close();
  }
}

/** Loads an extension from its folder and opens its page. */
export async function browseExtension(folder) {
  const profile = mkdtempSync(join(tmpdir(), 'glassformer-profile-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: wholePath,
    headless: false,
    args: [...flags, '--headless=new', `--load-extension=${folder}`],
    ignoreDefaultArgs: ['--disable-extensions'],
  });
  try {
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    return await watch(await context.newPage(), new URL('page.html', worker.url()).href);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true });
  }
}

/** Returns the version of a browser. */
export async function versionOf(name) {
  const browser = await opened[name]?.catch(() => undefined);
  return (await browser?.version())?.replace(/.*\//, '') ?? '';
}

export async function closeBrowsers() {
  for (const browser of await Promise.allSettled(Object.values(opened))) {
    await browser.value?.close();
  }
}

// Both drivers have the same names for the functions used here.
async function watch(page, url) {
  const complaints = [];
  let workers = 0;
  page.on('worker', () => workers++);
  page.on('workercreated', () => workers++);
  page.on('pageerror', (error) => complaints.push(`error ${error.message}`));
  let timer;
  const outcome = new Promise((resolve) => {
    page.on('console', (message) => {
      const found = outcomeIn(message.text());
      if (found) resolve(found);
      if (message.type() === 'error') complaints.push(`console ${message.text()}`);
    });
    timer = setTimeout(resolve, limit, { error: `nothing after ${limit / 1000} s` });
  });
  try {
    await page.goto(url);
    return { outcome: await outcome, complaints, workers };
  } finally {
    clearTimeout(timer);
  }
}
