/** Schedules drawing in the browser's frames, so that it never delays the response to input. */

/** Milliseconds per frame for drawing that can wait. */
const spare = 6;

/** Whether no frames are painted, because the page is hidden or printed. */
const unpainted = () => document.hidden || matchMedia('print').matches;

/** Runs `job` before the next frame. The returned function cancels it. */
export function nextFrame(job: () => void): () => void {
  if (unpainted()) {
    job();
    return () => undefined;
  }
  const frame = requestAnimationFrame(job);
  return () => cancelAnimationFrame(frame);
}

/** Ends the current task, so that the browser can paint or respond before the next one. */
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

/** Runs a job that can wait in the spare time of a frame. The returned function cancels it. */
export function spareFrame(job: () => void): () => void {
  if (unpainted()) {
    job();
    return () => undefined;
  }
  if (waiting.size === 0) requestAnimationFrame(work);
  waiting.add(job);
  return () => waiting.delete(job);
}

/** Draws at most once per frame, no matter how often something changes. */
export class PerFrame {
  #draw: (() => void) | undefined;
  #cancel: (() => void) | undefined;

  /** Runs `draw` before the next frame, unless a later call replaces it. */
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

  /** Runs the waiting job now. */
  flush(): void {
    const draw = this.#draw;
    this.drop();
    draw?.();
  }

  /** Cancels the waiting job. */
  drop(): void {
    this.#cancel?.();
    this.#draw = this.#cancel = undefined;
  }
}
