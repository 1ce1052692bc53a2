/** What each view shows, as the page's address says. */
import { examples } from './examples.ts';
import { Explorer } from './explorer.svelte.ts';
import { fromHash, fromTranslationHash, viewOf, type View } from './permalink.ts';
import { TranslationExplorer } from './translation-explorer.svelte.ts';
import { translationExamples } from './translation-examples.ts';

export interface Explorers {
  sentiment: Explorer;
  translation: TranslationExplorer;
  bench: undefined;
}

export function explorersAt(hash: string): Explorers {
  const hashFor = (view: View) => (viewOf(hash) === view ? hash : '');
  return {
    sentiment: new Explorer(fromHash(hashFor('sentiment')), examples[0]!.text),
    translation: new TranslationExplorer(
      fromTranslationHash(hashFor('translation')),
      translationExamples.de[0]!.text,
    ),
    bench: undefined,
  };
}
