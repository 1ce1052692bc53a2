// A budget of cores. Programs wait until enough of them are free.

/** Hands out cores to programs: those of earlier steps first. */
export class Slots {
  #free;
  #waiting = [];

  constructor(cores) {
    this.cores = cores;
    this.#free = cores;
  }

  /**
   * Does `work` once `count` cores are free and no program of an earlier step waits. `count` may be
   * larger than the number of cores: then it is all of them. `order` is the position of the step.
   */
  async use(count, order, work) {
    const wanted = Math.min(count, this.cores);
    await new Promise((start) => {
      this.#waiting.push({ wanted, order, start });
      this.#waiting.sort((a, b) => a.order - b.order);
      this.#startWhatFits();
    });
    try {
      return await work();
    } finally {
      this.#free += wanted;
      this.#startWhatFits();
    }
  }

  // The first one in line is not overtaken, or a build would wait until all tests are done.
  #startWhatFits() {
    while (this.#waiting.length > 0 && this.#waiting[0].wanted <= this.#free) {
      const { wanted, start } = this.#waiting.shift();
      this.#free -= wanted;
      start();
    }
  }
}
