// Our command line as an engine; see engine.mjs. Each sample is a process of `glassformer bench`,
// which measures for a second itself.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../../tools/build.mjs';
import { peakOf } from './engine.mjs';

export const program = join(root, 'build/native/glassformer');

/** Runs a program. Returns its output and the peak of its memory, which is read until it ends. */
export async function runAndWatch(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let peak = 0;
  child.stdout.on('data', (data) => (output += data));
  const timer = setInterval(() => {
    try {
      peak = peakOf(child.pid);
    } catch {
      clearInterval(timer); // it has ended
    }
  }, 20);
  const status = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(timer);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
  return { output, peak };
}

/** Names the times in a row of `glassformer bench`, by task. */
const times = {
  classify: ({ ms_median: whole }) => ({ whole }),
  image: ({ ms_median: whole }) => ({ whole }),
  translate: ({ beams, ms_median: time }) => ({
    [beams === 1 ? 'greedy' : `${beams} beams`]: time,
  }),
  generate: ({ ms_median: time, ms_first_token: prompt }) => ({ prompt, 'prompt and more': time }),
};

export class NativeEngine {
  samples = {};
  peak = 0;

  constructor(names, { model, precision, threads, text, count }) {
    this.names = names;
    this.args = ['bench', model, '--compute', precision, '--threads', String(threads), '--json'];
    if (text) this.args.push('--text', text);
    if (count) this.args.push('--output-tokens', String(count));
  }

  async start() {
    const { output } = await runAndWatch(program, this.args);
    const [{ build, threads, tokens, output_tokens }] = JSON.parse(output);
    this.facts = { build, threads, tokens, output_tokens };
    return this;
  }

  async sample() {
    const { output, peak } = await runAndWatch(program, this.args);
    this.peak = Math.max(this.peak, peak);
    for (const row of JSON.parse(output))
      for (const [what, time] of Object.entries(times[row.task](row)))
        (this.samples[what] ??= []).push(time);
  }

  async end() {}
}
