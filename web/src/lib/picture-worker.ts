/** Makes one file: see picture.ts. */
import { pictureFile, type FileAsked } from './picture.ts';
import { jsonText } from './result-json.ts';

self.onmessage = async ({ data }: MessageEvent<FileAsked>) => {
  try {
    self.postMessage(
      data.kind === 'json'
        ? new Blob([jsonText(data.told)], { type: 'application/json' })
        : await pictureFile(data),
    );
  } catch (error) {
    reportError(error);
  }
};
