// `--repeat N`: finds tests that fail only sometimes.

/** Counts the failures of each test over several runs of the same files. */
export class Repeats {
  #failed = new Map();

  add({ failures }) {
    for (const { file, name, message } of failures) {
      const test = `${file}: ${name}`;
      const messages = this.#failed.get(test) ?? new Map();
      messages.set(message, (messages.get(message) ?? 0) + 1);
      this.#failed.set(test, messages);
    }
  }

  /** Prints how often each test failed, and its messages. */
  print(runs) {
    if (this.#failed.size === 0) console.log(`\nNo test failed in ${runs} runs.`);
    for (const [test, messages] of this.#failed) {
      const times = [...messages.values()].reduce((sum, count) => sum + count, 0);
      console.log(`\nfailed in ${times} of ${runs} runs: ${test}`);
      for (const [message, count] of messages) console.log(`${count} ×\n${message}`);
    }
  }
}
