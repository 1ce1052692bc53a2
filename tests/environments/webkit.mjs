// Safari's engine, from Debian. Its driver does not report a page's messages or its workers.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, Untried } from './project.mjs';

function findBrowser() {
  for (const library of readdirSync('/usr/lib')) {
    const browser = join('/usr/lib', library, 'webkit2gtk-4.1/MiniBrowser');
    if (existsSync(browser)) return browser;
  }
  return undefined;
}

function start(command, args, env, stdio) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio });
  process.on('exit', () => child.kill());
  return child;
}

/** Starts WebKit on a virtual display. */
export class WebKit {
  #processes = [];
  #url;
  #version;

  static async open() {
    const programs = ['/usr/bin/Xvfb', '/usr/bin/WebKitWebDriver'];
    if (!findBrowser() || !programs.every(existsSync)) {
      throw new Untried('needs the Debian packages webkit2gtk-driver and xvfb');
    }
    const webkit = new WebKit();
    const display = start('Xvfb', ['-displayfd', '3'], {}, ['ignore', 'ignore', 'ignore', 'pipe']);
    const number = await new Promise((resolve) => display.stdio[3].once('data', resolve));
    const port = await freePort();
    const env = { DISPLAY: `:${String(number).trim()}` };
    const driver = start('WebKitWebDriver', [`--port=${port}`], env, 'ignore');
    webkit.#processes = [driver, display];
    webkit.#url = `http://127.0.0.1:${port}/session`;
    while (!(await fetch(webkit.#url).catch(() => undefined))) await pause();
    return webkit;
  }

  version() {
    return this.#version;
  }

  close() {
    for (const child of this.#processes) child.kill();
  }

  /** Returns the outcome of a page, opened in a new session. */
  async outcome(url, limit) {
    const options = { binary: findBrowser(), args: ['--automation'] };
    const alwaysMatch = { 'webkitgtk:browserOptions': options };
    const { sessionId, capabilities } = await this.#post('', { capabilities: { alwaysMatch } });
    this.#version = capabilities.browserVersion;
    try {
      await this.#post(`/${sessionId}/url`, { url });
      const script = { script: 'return globalThis.outcome', args: [] };
      for (const deadline = Date.now() + limit; Date.now() < deadline; await pause()) {
        const outcome = await this.#post(`/${sessionId}/execute/sync`, script);
        if (outcome) return outcome;
      }
      return { error: `nothing after ${limit / 1000} s` };
    } finally {
      await fetch(`${this.#url}/${sessionId}`, { method: 'DELETE' });
    }
  }

  async #post(path, body) {
    const request = { method: 'POST', body: JSON.stringify(body) };
    const { value } = await (await fetch(this.#url + path, request)).json();
    if (value?.error) throw new Error(`WebKit: ${value.error}: ${value.message}`);
    return value;
  }
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, 100));
}
