/** The files of a model that somebody has chosen or dropped, by their names in its folder. */

export type ChosenFiles = Readonly<Record<string, File>>;

/** A file, and where it lay in what was chosen: "folder/1_Pooling/config.json". */
export interface FoundFile {
  path: string;
  file: File;
}

/** Of Firefox's translators, which have no config.json. */
export const containerName = /(?:^|\/)model\.[^/]*\.bin$/;

/**
 * The folder is where the first config.json lies that is not in a folder of its folder; or, where
 * there is none, the first of Firefox's models.
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

/** What a file input holds: a folder's files, or files without one. */
export const chosenFiles = (list: Iterable<File>): FoundFile[] =>
  [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

/** The files among what was dropped, and all that lie in its folders. */
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
    // A folder is read some entries at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (some.length === 0) return found;
    found.push(...(await Promise.all(some.map(filesIn))).flat());
  }
}
