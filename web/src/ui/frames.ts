/** Drawing waits for the browser's frames, so that an interaction's answer never waits for it. */

/** Milliseconds of a frame that drawing may take which can wait. */
const spare = 6;

/** Frames are neither painted in a hidden page nor while it is printed. */
const unpainted = () => document.hidden || matchMedia('print').matches;

/** Runs `job` before the next frame; calling what it returns takes it back. */
export function nextFrame(job: () => void): () => void {
  if (unpainted()) {
    job();
    return () => undefined;
  }
  const frame = requestAnimationFrame(job);
  return () => cancelAnimationFrame(frame);
}

/** Ends this task of the page: the browser can paint or react before the next one. */
export const anotherTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

const waiting = new Set<() => void>();

function work() {
  const end = performance.now() + spare;
  for (const job of waiting) {
    waiting.delete(job);
    job();
    if (performance.now() >= end) break;
  }
  if (waiting.size > 0) requestAnimationFrame(work);
}

/** Runs several jobs, one after another, in the spare time of frames. */
export function spareFrames(jobs: readonly (() => void)[]): () => void {
  const drops = jobs.map(spareFrame);
  return () => drops.forEach((drop) => drop());
}

/** The same for what can wait: as much of it in each frame as leaves that fluent. */
export function spareFrame(job: () => void): () => void {
  if (unpainted()) {
    job();
    return () => undefined;
  }
  if (waiting.size === 0) requestAnimationFrame(work);
  waiting.add(job);
  return () => waiting.delete(job);
}

/** Draws at most once per frame, however often something changes: only the last change counts. */
export class PerFrame {
  #draw: (() => void) | undefined;
  #cancel: (() => void) | undefined;

  /** Runs `draw` before the next frame, unless another one takes its place before that. */
  ask(draw: () => void): void {
    this.#draw = draw;
    if (this.#cancel) return;
    let ran = false;
    const cancel = nextFrame(() => {
      ran = true;
      this.flush();
    });
    // In a hidden page it runs at once.
    if (!ran) this.#cancel = cancel;
  }

  /** Runs now what is still waiting. */
  flush(): void {
    const draw = this.#draw;
    this.drop();
    draw?.();
  }

  /** Forgets what is still waiting. */
  drop(): void {
    this.#cancel?.();
    this.#draw = this.#cancel = undefined;
  }
}
