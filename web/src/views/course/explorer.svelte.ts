/** The course's state: the sentence, the open lesson, its control, and what its picture shows. */
import { GlassformerError, ImageClassifier, type Classifier } from 'glassformer';
import type { Figured } from '../../ui/figured.ts';
import { ModelLoader, type Model } from '../../models/model-loader.svelte.ts';
import { ownModels } from '../../models/tasks/own-models.ts';
import { readFailure, type Failure } from '../../ui/failure.ts';
import type { Link } from '../../ui/link.ts';
import type { ViewState } from '../../ui/view.ts';
import { allowed, type CourseModel, type Lesson, type LessonEntry, type Models } from './lesson.ts';
import { lessonNamed, teachers } from './lessons.ts';
import { firstText, fromCourseLink, shortened, toCourseLink } from './link.ts';

/** Delay between typing and the model's run, in milliseconds. */
const pause = 80;

const models = { ...ownModels, digits: { opens: ImageClassifier, figure: 'pictures' } } as const;

/** The data of a lesson's picture, for one text and setting. */
export interface Shown {
  entry: LessonEntry;
  lesson: Lesson;
  live: unknown;
  text: string;
  setting: number;
}

export class CourseExplorer implements ViewState {
  text = $state(firstText);
  /** The name of the open lesson, or `teachers`. */
  name = $state('');
  /** The value of the control, if it was changed. */
  setting = $state<number>();
  /** Whether only the question and the picture are shown, large. */
  large = $state(false);
  /** The lesson whose code was fetched last. */
  fetched = $state.raw<{ entry: LessonEntry; lesson: Lesson }>();
  shown = $state.raw<Shown>();
  busy = $state(true);
  failure = $state.raw<Failure>();
  /** Whether a lesson's code could not be fetched. */
  missing = $state(false);
  /** The loader of the model that the lesson waits for. */
  loader = $state.raw<ModelLoader>();

  readonly viewpoint = ['lesson'];
  readonly ready = true;

  readonly #loaders = new Map<CourseModel, ModelLoader>();
  readonly #loading = new Map<CourseModel, Promise<boolean>>();
  #asking = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #started = false;

  constructor(link: Link) {
    this.#take(link);
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    void this.#renew();
  }

  follow(link: Link): void {
    this.#take(link);
    if (this.#started) void this.#renew();
  }

  get link(): Link {
    const { name: lesson, text, setting, large } = this;
    return toCourseLink({ lesson, text, setting, large });
  }

  get figure(): Figured {
    const { entry, shown } = this;
    const model = shown?.lesson.model;
    const open = model && (this.#loaders.get(model)?.model as Partial<Classifier> | undefined);
    return {
      architecture: shown && open?.architecture,
      ...(model && { kind: models[model].figure }),
      rows: {},
      ...(shown && model === 'sentiment' && { traceOf: (names) => this.#trace(names) }),
      here: entry && { parts: entry.parts, ...(entry.stack && { stack: entry.stack }) },
      inside: model === 'digits' ? undefined : { model: model ?? 'sentiment', text: this.own },
    };
  }

  async #trace(trace: readonly string[]) {
    const model = await this.open('sentiment');
    return (await model.classify(this.own, { trace })).trace;
  }

  get working(): boolean {
    return this.busy;
  }

  get forTeachers(): boolean {
    return this.name === teachers;
  }

  /** The open lesson; undefined on the page for teachers. */
  get entry(): LessonEntry | undefined {
    return this.forTeachers ? undefined : lessonNamed(this.name);
  }

  /** The part of the text that the lessons read. */
  get own(): string {
    return shortened(this.text);
  }

  edit(text: string): void {
    this.text = text;
    this.#soon();
  }

  set(setting: number): void {
    this.setting = setting;
    this.#soon(0);
  }

  /** Tries again after a failure. */
  retry(): void {
    void this.#renew();
  }

  /** Returns a model, loaded on first use. Throws what failed. */
  async open<Name extends CourseModel>(name: Name): Promise<Models[Name]> {
    let loader = this.#loaders.get(name);
    if (!loader) {
      loader = new ModelLoader<Model>(() => models[name].opens);
      this.#loaders.set(name, loader);
    }
    this.loader = loader;
    if (loader.phase === 'failed') this.#loading.delete(name);
    let loading = this.#loading.get(name);
    if (!loading) this.#loading.set(name, (loading = loader.load(name)));
    if (!(await loading)) throw new LoadingFailed();
    return loader.model as unknown as Models[Name];
  }

  #take(link: Link): void {
    const { lesson, text, setting, large = false } = fromCourseLink(link);
    if (text !== undefined) this.text = text;
    if (lesson === undefined && this.name !== '') return;
    this.name = lesson ?? lessonNamed(undefined).name;
    this.setting = setting;
    this.large = large;
  }

  #soon(delay = pause): void {
    this.busy = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#renew(), delay);
  }

  /** Fetches the lesson, loads its model and computes its picture. */
  async #renew(): Promise<void> {
    clearTimeout(this.#timer);
    this.#asking.abort();
    const { signal } = (this.#asking = new AbortController());
    const { entry, own: text } = this;
    this.failure = undefined;
    this.missing = false;
    if (!entry) {
      this.busy = false;
      return;
    }
    this.busy = true;
    try {
      const { default: lesson } = await entry.load().catch(() => {
        throw new MissingCode();
      });
      if (signal.aborted) return;
      this.fetched = { entry, lesson };
      const { control, initial } = lesson.change;
      const setting = allowed(control, this.setting ?? initial, initial);
      if (text.trim() === '') return this.#show(undefined);
      const model = await this.open(lesson.model);
      const open = <Name extends CourseModel>(name: Name) => this.open(name);
      const live = await lesson.read({ model, text, setting, signal, open });
      if (!signal.aborted) this.#show({ entry, lesson, live, text, setting });
    } catch (error) {
      if (signal.aborted) return;
      this.#show(undefined);
      if (error instanceof MissingCode) this.missing = true;
      else if (!(error instanceof LoadingFailed) && !isEmpty(error))
        this.failure = readFailure(error);
    }
  }

  #show(shown: Shown | undefined): void {
    this.busy = false;
    this.shown = shown;
  }
}

/** The loader has the message. */
class LoadingFailed extends Error {}
/** A lesson's code could not be fetched. */
class MissingCode extends Error {}

/** A text without tokens counts as empty. */
const isEmpty = (error: unknown) =>
  error instanceof GlassformerError && error.code === 'empty_input';
