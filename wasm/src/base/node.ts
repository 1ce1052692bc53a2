// Node's modules come from process.getBuiltinModule, because service workers refuse a dynamic
// import() and bundlers fail at it. Only the functions in use are declared here, so that neither the
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
  on(event: 'message' | 'messageerror' | 'error' | 'exit', listener: (value: never) => void): void;
  ref(): void;
  unref(): void;
}

export interface Threads {
  Worker: new (script: URL | string, options: { execArgv: string[]; eval?: boolean }) => Thread;
  /** In a worker thread: the channel to the thread that started it. */
  parentPort: {
    on(event: 'message', listener: (value: never) => void): void;
    postMessage(message: unknown, transfer: ArrayBufferLike[]): void;
  } | null;
}

interface Hash {
  update(bytes: Uint8Array): Hash;
  digest(form: 'hex'): string;
}

/** Loads CommonJS modules; here, only the script of @glassformer/native. */
export interface NodeRequire {
  (script: string): { open(version: string): object };
  resolve(name: string): string;
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
  'node:module': {
    createRequire(from: string): NodeRequire;
  };
  'node:os': { availableParallelism?(): number };
  'node:url': { pathToFileURL(path: string): URL };
  'node:worker_threads': Threads;
}

interface NodeProcess {
  env?: Record<string, string | undefined>;
  cwd?(): string;
  getBuiltinModule?<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined;
  /** In Electron: "browser", "renderer" and so on. */
  type?: string;
}

/** Options of threads. Flags such as --input-type are only meant for the program's own script. */
export const threadOptions = { execArgv: [] };

const { process } = globalThis as { process?: NodeProcess };

/** Returns a built-in module of Node; undefined in browsers and in Node before 20.16. */
export function nodeModule<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  return process?.getBuiltinModule?.(name);
}

type Permission = { name: 'env'; variable: string } | { name: 'ffi' };

/** Returns whether Deno permits something without asking the user; true in other runtimes. */
export function permits(permission: Permission): boolean {
  const { Deno } = globalThis as {
    Deno?: { permissions: { querySync(permission: Permission): { state: string } } };
  };
  return !Deno || Deno.permissions.querySync(permission).state === 'granted';
}

/** Returns a variable of the environment; undefined in browsers, and where it may not be read. */
export function variable(name: string): string | undefined {
  return permits({ name: 'env', variable: name }) ? process?.env?.[name] : undefined;
}

/** Returns the folder in which the program was started. */
export function workingFolder(): string | undefined {
  return process?.cwd?.();
}

/** Returns the number of threads that the machine runs at the same time, as far as it tells. */
export function parallelism(): number {
  const os = nodeModule('node:os');
  return os?.availableParallelism?.() ?? globalThis.navigator?.hardwareConcurrency ?? 1;
}

/** Returns whether this is Node or a similar runtime, such as Bun and Deno. */
export function isServer(): boolean {
  return process?.getBuiltinModule !== undefined && process.type !== 'renderer';
}
