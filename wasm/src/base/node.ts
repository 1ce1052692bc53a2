// Node's modules come from process.getBuiltinModule: a dynamic import() would be refused by service
// workers and upset bundlers. Only the few functions in use are described here, so that neither the
// sources nor their users need Node's types.



/** The part of a worker that the package uses: a web worker, or a `Worker` of `node:worker_threads`. */
export interface WorkerLike {
  postMessage(message: unknown): void;
  terminate(): unknown;
}

interface FileHandle {
  stat(): Promise<{ size: number; isFile(): boolean }>;
  read(buffer: Uint8Array): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
}

/** A worker of `node:worker_threads`. */
export interface Thread extends WorkerLike {
  on(event: 'message' | 'messageerror' | 'error', listener: (value: never) => void): void;
  ref(): void;
  unref(): void;
}

export interface Threads {
  Worker: new (script: URL | string, options: { execArgv: string[]; eval?: boolean }) => Thread;
  /** In a thread, what leads to the one that started it. */
  parentPort: {
    on(event: 'message', listener: (value: never) => void): void;
    postMessage(message: unknown, transfer: ArrayBufferLike[]): void;
  } | null;
}

interface Hash {
  update(bytes: Uint8Array): Hash;
  digest(form: 'hex'): string;
}

interface Builtins {
  'node:crypto': { createHash(algorithm: 'sha256'): Hash };
  'node:fs': {
    promises: {
      open(path: URL): Promise<FileHandle>;
      readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
      readdir(path: URL): Promise<string[]>;
    };
  };
  'node:url': { pathToFileURL(path: string): URL };
  'node:worker_threads': Threads;
}

interface NodeProcess {
  getBuiltinModule?<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined;
  /** In Electron: "browser", "renderer", … */
  type?: string;
}

/** Flags such as --input-type are for the program's own script. */
export const threadOptions = { execArgv: [] };

const { process } = globalThis as { process?: NodeProcess };

/** A module of Node's own; undefined in browsers and in Node before 20.16. */
export function nodeModule<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  return process?.getBuiltinModule?.(name);
}

/** Whether this is Node or a runtime of its kind, such as Bun and Deno. */
export function isServer(): boolean {
  return process?.getBuiltinModule !== undefined && process.type !== 'renderer';
}
