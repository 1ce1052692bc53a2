/** The common part of views that show how a model reads one text: its edits and its heads. */
import { Earlier } from './earlier.svelte.ts';
import { Explorer } from '../../models/explorer.svelte.ts';
import type { Model, ModelLoader } from '../../models/model-loader.svelte.ts';
import type { ModelName } from '../../models/models.ts';
import type { Link } from '../../ui/link.ts';
import type { Trace } from '../attention/query-key.ts';
import type { TextAttention } from '../attention/text-attention.ts';
import {
  HeadChoice,
  type AttentionKind,
  type AttentionOnView,
} from '../heads/head-choice.svelte.ts';

/** `Result` is what the view shows for a text. */
export abstract class TextExplorer<M extends Model, Result, Kind extends AttentionKind>
  extends Explorer<M>
  implements AttentionOnView<Kind>
{
  abstract override readonly loader: ModelLoader<M>;
  abstract readonly name: ModelName;

  text = $state('');
  /** The result before the text was edited. */
  readonly earlier = new Earlier<Result>();
  readonly choice: HeadChoice<Kind> = new HeadChoice<Kind>(this, () => this.intervened());

  abstract readonly attention: Kind;
  abstract readonly attended: TextAttention | undefined;
  abstract readonly layers: number;
  abstract readonly heads: number;
  abstract traceOf(names: readonly string[]): Promise<Trace>;

  /** The result shown until the model is loaded, if it was computed when the page was built. */
  abstract beforehand: object | undefined;
  /** The shown result, with which the next one is compared after an edit. */
  protected abstract readonly current: Result | undefined;
  /** Delay between typing and the model's run, in milliseconds. */
  protected abstract readonly pause: number;
  /** Takes the state from a link. */
  protected abstract take(link: Link): void;

  async load(): Promise<void> {
    if (!(await this.loader.load(this.name))) return this.dropBeforehand();
    this.choice.keep();
    void this.refresh();
  }

  follow(link: Link): void {
    this.earlier.forget();
    this.take(link);
    void this.refresh();
  }

  edit(text: string): void {
    this.earlier.typed(this.current);
    this.#change(text);
  }

  /** Shows an example. */
  show(text: string): void {
    this.earlier.forget();
    this.#change(text);
  }

  #change(text: string): void {
    this.dropBeforehand();
    this.put(text);
    this.choice.letGo();
    this.refreshAfter(this.pause);
  }

  /** Replaces the text. */
  protected put(text: string): void {
    this.text = text;
  }

  /** Undoes all interventions. */
  reset(): void {
    this.choice.off = [];
    this.intervened();
  }

  /** Runs the model again after an intervention. */
  protected intervened(): void {
    this.earlier.rest();
    void this.refresh();
  }

  protected dropBeforehand(): void {
    if (!this.beforehand) return;
    this.clear(false);
    this.busy = true;
  }
}
