// How all tests start Chromium.
import { existsSync } from 'node:fs';

/** The complete browser, which extensions need. */
export const wholePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

// The version without windows, if it is installed: it takes half the time.
const shell = '/usr/bin/chromium-headless-shell';
export const executablePath = !process.env.CHROMIUM && existsSync(shell) ? shell : wholePath;

export const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
