/** The picture that a model reads, the labels to choose from, and its answer. */
import {
  readPicture,
  type Architecture,
  type ImageClassification,
  type ImageClassifier,
  type ImageMatch,
  type ZeroShotImageClassifier,
} from 'glassformer';
import type { HeadPosition } from '../../panels/heads/position.ts';
import { examples } from '../../panels/pictures/digits.ts';
import { pictureOf, side, strokesIn, type Stroke } from '../../panels/pictures/drawing.ts';
import {
  attentionTo,
  type PatchesOnView,
  type Picture,
  type Reading,
} from '../../panels/pictures/patches.ts';
import { smaller } from '../../panels/pictures/smaller.ts';
import { linesOf } from '../../models/tasks/tasks.ts';

/** The pixels of a picture's longer side on the page, which shows it once per head. */
const mostShown = 256;

export class PictureAnswer implements PatchesOnView {
  /** Whether the model reads pictures as small as drawn digits. */
  drawable = $state(false);
  strokes = $state.raw<readonly Stroke[]>([]);
  /** The labels of a model that compares pictures with texts, one per line. */
  labels = $state('a person\nan animal\na plant\na building\na drawing');
  /** A file that was opened in place of a drawing. */
  opened = $state.raw<Picture>();
  /** The name of that file. */
  name = $state('');
  /** The answer, on a picture of a size for the page. */
  reading = $state.raw<Reading>();
  head = $state.raw<HeadPosition>({ layer: 0, head: 0 });
  query = $state<number>();
  layers = $state(1);
  heads = $state(1);

  /** Begins with a model, whose first picture is a drawn digit if it reads such pictures. */
  begin({ encoder }: Architecture, { layers, heads }: { layers: number; heads: number }): void {
    this.layers = layers;
    this.heads = heads;
    this.head = { layer: layers - 1, head: 0 };
    this.drawable = encoder?.channels === 1 && encoder.pictureHeight === side;
    this.draw(this.drawable ? strokesIn(examples[3]!.strokes) : []);
  }

  get picture(): Picture | undefined {
    if (this.opened) return this.opened;
    if (this.strokes.length === 0) return undefined;
    return { width: side, height: side, data: pictureOf(this.strokes) };
  }

  draw(strokes: readonly Stroke[]): void {
    this.#forget();
    this.strokes = strokes;
  }

  async open(file: File): Promise<void> {
    const picture = await readPicture(file);
    this.#forget();
    this.opened = picture;
    this.name = file.name;
  }

  #forget(): void {
    this.opened = this.query = undefined;
    this.reading = undefined;
    this.name = '';
  }

  async ask(
    model: ImageClassifier | ZeroShotImageClassifier,
    signal: AbortSignal,
  ): Promise<ImageClassification | ImageMatch | undefined> {
    const { picture } = this;
    if (!picture) return undefined;
    const options = { attention: true, signal } as const;
    const result =
      model.task === 'image-classification'
        ? await model.classify(picture, options)
        : await model.classify(picture, [...new Set(linesOf(this.labels))], options);
    const { picture: shown, scale } = smaller(picture, mostShown);
    const { left, top, width, height } = result.region;
    const region = {
      left: left * scale,
      top: top * scale,
      width: width * scale,
      height: height * scale,
    };
    this.reading = { picture: shown, result: { ...result, region } };
    return result;
  }

  attentionOf(head: HeadPosition): Float32Array | undefined {
    return attentionTo(this.reading?.result, head, this.query);
  }
}
