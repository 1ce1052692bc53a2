let channel: MessageChannel | undefined;
const turns: (() => void)[] = [];

/** Lets other events, such as messages and timers, be handled. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void };
    if (setImmediate) {
      setImmediate(resolve);
      return;
    }
    // Unlike setTimeout, a message is not held back by 4 ms or more.
    if (typeof MessageChannel !== 'function') {
      setTimeout(resolve);
      return;
    }
    if (!channel) {
      channel = new MessageChannel();
      channel.port1.onmessage = () => turns.shift()!();
    }
    turns.push(resolve);
    channel.port2.postMessage(null);
  });
}
