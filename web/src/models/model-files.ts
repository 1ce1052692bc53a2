/** The files of a model, by their names in its folder: chosen, dropped, or made by another view. */

export type ChosenFiles = Readonly<Record<string, File>>;

/** A file and its path in the selection, such as "folder/1_Pooling/config.json". */
export interface FoundFile {
  path: string;
  file: File;
}

/** The file name of Firefox's translation models, which have no config.json. */
export const containerName = /(?:^|\/)model\.[^/]*\.bin$/;

/**
 * Returns the files of the model's folder by name. This is the folder of the topmost config.json
 * or, without one, of the topmost Firefox model.
 */
export function filesByName(found: readonly FoundFile[]): ChosenFiles {
  const depth = (path: string) => path.split('/').length;
  const seen = found.filter(({ path }) => !path.split('/').some((part) => part.startsWith('.')));
  const first = (name: RegExp) =>
    seen
      .map(({ path }) => path)
      .filter((path) => name.test(path))
      .sort((a, b) => depth(a) - depth(b))[0];
  const folder = (first(/(^|\/)config\.json$/) ?? first(containerName) ?? '').replace(/[^/]*$/, '');
  return Object.fromEntries(
    seen
      .filter(({ path }) => path.startsWith(folder))
      .map(({ path, file }) => [path.slice(folder.length), file]),
  );
}

/** Returns the files of a file input: those of a folder, or single files. */
export const chosenFiles = (list: Iterable<File>): FoundFile[] =>
  [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

/** Returns the dropped files and all files in the dropped folders. */
export const filesOfEntries = async (entries: readonly FileSystemEntry[]): Promise<FoundFile[]> =>
  (await Promise.all(entries.map(filesIn))).flat();

async function filesIn(entry: FileSystemEntry): Promise<FoundFile[]> {
  const path = entry.fullPath.replace(/^\//, '');
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      (entry as FileSystemFileEntry).file(resolve, reject);
    });
    return [{ path, file }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: FoundFile[] = [];
  for (;;) {
    // The browser returns a folder's entries in several parts.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (some.length === 0) return found;
    found.push(...(await Promise.all(some.map(filesIn))).flat());
  }
}

/** The views that open files of a model that another view made. */
export type Opener = 'model' | 'digits';

let handed: { files: readonly FoundFile[]; to: Opener } | undefined;

export function handOver(files: readonly FoundFile[], to: Opener): void {
  handed = { files, to };
}

/** Returns the files for a view, once. */
export function handedOver(to: Opener): readonly FoundFile[] | undefined {
  if (handed?.to !== to) return undefined;
  const { files } = handed;
  handed = undefined;
  return files;
}
