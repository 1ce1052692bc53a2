/** Files that are dropped onto the page, in any view. */

/** Whether files are being dragged. Dragged texts are left to the browser. */
export const hasFiles = ({ dataTransfer }: DragEvent): boolean =>
  dataTransfer?.types.includes('Files') ?? false;

/** Returns the dropped files and folders. Call it in the event handler; later they are gone. */
export const entriesIn = ({ items }: DataTransfer): FileSystemEntry[] =>
  [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
