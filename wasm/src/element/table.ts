import { make, weightText } from './dom.js';
import type { ShownHead } from './map.js';

const strongest = 5;

/** The attention in words: the keys with the largest weights for each token. Created when opened. */
export class AttentionTableView {
  readonly element = make('details', {}, make('summary', {}, 'As a table'));
  readonly #room = make('div', { class: 'scroll', role: 'region', tabindex: 0 });
  #head: ShownHead | undefined;

  constructor() {
    this.element.append(this.#room);
    this.element.addEventListener('toggle', () => this.#fill());
  }

  show(head: ShownHead): void {
    this.#head = head;
    this.#room.setAttribute('aria-label', head.name);
    this.#fill();
  }

  #fill(): void {
    this.#room.replaceChildren();
    if (!this.element.open || !this.#head) return;
    const { weights, keys, queryLabels, keyLabels } = this.#head;
    const rows = queryLabels.map((label, query) => {
      const row = weights.subarray(query * keys, (query + 1) * keys);
      const ranked = [...row.keys()].sort((a, b) => row[b]! - row[a]!).slice(0, strongest);
      const cells = ranked
        .filter((key) => row[key]! > 0)
        .map((key) =>
          make(
            'td',
            {},
            make('bdi', { dir: 'auto' }, keyLabels[key]!),
            ` ${weightText(row[key]!)}`,
          ),
        );
      return make('tr', {}, make('th', { scope: 'row', dir: 'auto' }, label), ...cells);
    });
    const caption = `Each token, and the ${Math.min(strongest, keys)} it looks at most.`;
    const table = make('table', {}, make('caption', {}, caption), make('tbody', {}, ...rows));
    this.#room.append(table);
  }
}
