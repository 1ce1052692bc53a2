interface Listener {
  callbacks: Set<() => void>;
  call: () => void;
}

const listeners = new WeakMap<AbortSignal, Listener>();

/**
 * Calls `callback` when `signal` aborts. Returns a function that cancels this. All callbacks of a
 * signal share one listener, because Node warns about more than ten.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  const { callbacks, call } = listenerOf(signal);
  if (callbacks.size === 0) signal.addEventListener('abort', call);
  callbacks.add(callback);
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) {
      signal.removeEventListener('abort', call);
    }
  };
}

function listenerOf(signal: AbortSignal): Listener {
  let listener = listeners.get(signal);
  if (!listener) {
    const callbacks = new Set<() => void>();
    const call = (): void => [...callbacks].forEach((callback) => callback());
    listener = { callbacks, call };
    listeners.set(signal, listener);
  }
  return listener;
}
