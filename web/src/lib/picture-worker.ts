/** Makes one picture: see picture.ts. */
import { pictureFile, type Picture, type PictureKind } from './picture.ts';

self.onmessage = async ({ data }: MessageEvent<{ kind: PictureKind; picture: Picture }>) => {
  try {
    self.postMessage(await pictureFile(data.kind, data.picture));
  } catch (error) {
    reportError(error);
  }
};
