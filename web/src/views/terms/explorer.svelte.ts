/** The state of the view Terms: what is searched. */
import type { Link } from '../../ui/link.ts';
import type { ViewState } from '../../ui/view.ts';

export class TermsExplorer implements ViewState {
  query = $state('');
  readonly ready = true;
  readonly working = false;
  readonly viewpoint = ['q'];

  constructor(link: Link) {
    this.follow(link);
  }

  start(): void {}

  follow(link: Link): void {
    this.query = link.q ?? '';
  }

  get link(): Link {
    return this.query === '' ? {} : { q: this.query };
  }
}
