// Chromium as every test of pages starts it.
import { existsSync } from 'node:fs';

/** All of it, which extensions need. */
export const wholePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

// Without a window's frame, where that is installed: it takes half of the time.
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
