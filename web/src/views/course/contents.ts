/** The lessons, for the search of the page. */
import { hashFor } from '../../ui/link.ts';
import type { Findable } from '../../ui/findable.ts';
import { lessons } from './lessons.ts';

export const contents: readonly Findable[] = lessons.map(({ name, title, question }, i) => ({
  kind: 'lesson',
  title,
  says: question,
  place: { text: `Open lesson ${i + 1}`, hash: hashFor('course', { lesson: name }).slice(1) },
}));
