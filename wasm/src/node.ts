// Node's modules come from process.getBuiltinModule: a dynamic import() would be refused by service
// workers and upset bundlers. Only the few functions in use are described here, so that neither the
// sources nor their users need Node's types.

interface FileHandle {
  stat(): Promise<{ size: number; isFile(): boolean }>;
  read(buffer: Uint8Array): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
}

interface Builtins {
  'node:fs': {
    promises: {
      open(path: URL): Promise<FileHandle>;
      readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
    };
  };
  'node:url': { pathToFileURL(path: string): URL };
}

interface NodeProcess {
  getBuiltinModule?<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined;
}

/** A module of Node's own; undefined in browsers and in Node before 20.16. */
export function nodeModule<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  return (globalThis as { process?: NodeProcess }).process?.getBuiltinModule?.(name);
}
