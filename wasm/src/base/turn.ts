let channel: MessageChannel | undefined;
const turns: (() => void)[] = [];

/** Returns to the event loop, so that messages and timers are handled. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void };
    if (setImmediate) {
      setImmediate(resolve);
      return;
    }
    // Browsers delay nested timers by 4 ms or more, but not messages.
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
