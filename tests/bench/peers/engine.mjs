// An engine in a process of its own, so that its threads, its allocator and its peak of memory are
// its own. The process prints a line of JSON with facts when it is warm. Then it reads lines, each a
// number of milliseconds, measures calls for that long, and answers each with a line of JSON,
// {what: [milliseconds, …], …}.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Returns the peak of a running process's memory, in bytes. Linux only. */
export function peakOf(pid) {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) * 1024;
}

/**
 * A child process that answers lines with lines. `names`: what identifies its row in the report.
 */
export class Engine {
  samples = {};

  constructor(names, command, args, env = {}) {
    this.names = names;
    this.child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    this.what = [command, ...args].join(' ').slice(0, 300);
  }

  async read() {
    const { done, value } = await this.lines.next();
    if (done) throw new Error(`ended early: ${this.what}`);
    return value;
  }

  /** Resolves when the engine is loaded and warm. */
  async start() {
    this.facts = JSON.parse(await this.read());
    return this;
  }

  /** Measures for some milliseconds. */
  async sample(milliseconds) {
    this.child.stdin.write(`${milliseconds}\n`);
    for (const [what, times] of Object.entries(JSON.parse(await this.read())))
      (this.samples[what] ??= []).push(...times);
  }

  /** Ends the process; keeps its peak of memory. */
  async end() {
    this.peak = peakOf(this.child.pid);
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.stdin.end();
    await ended;
  }
}

/** Measures the engines in turn, round after round; each goes first in turn. Ends them. */
export async function inTurn(engines, { rounds, slice }) {
  for (let round = 0; round < rounds; ++round)
    for (let i = 0; i < engines.length; ++i)
      await engines[(i + round) % engines.length].sample(slice);
  for (const engine of engines) await engine.end();
}
