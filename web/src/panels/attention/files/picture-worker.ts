/** Creates one file; see picture-file.ts. */
import { pictureFile } from './picture.ts';
import { jsonText } from './result-json.ts';
import type { FileAsked, Picture, Shaded } from './picture-file.ts';

self.onmessage = async ({ data }: MessageEvent<FileAsked<Picture & Shaded>>) => {
  try {
    self.postMessage(
      data.kind === 'json'
        ? new Blob([jsonText(data.told)], { type: 'application/json' })
        : await pictureFile(data.kind, data.picture),
    );
  } catch (error) {
    reportError(error);
  }
};
