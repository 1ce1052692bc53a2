/** Files that are dropped onto the page, whatever view is open. */

/** Whether files are dragged. Texts can be dragged, too: those are left to the browser. */
export const hasFiles = ({ dataTransfer }: DragEvent): boolean =>
  dataTransfer?.types.includes('Files') ?? false;

/** The dropped files and folders. Call it in the event handler: later they are gone. */
export const entriesIn = ({ items }: DataTransfer): FileSystemEntry[] =>
  [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
