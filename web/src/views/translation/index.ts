import { viewModule } from '../../ui/view.ts';
import { TranslationExplorer } from './explorer.svelte.ts';
import TranslationView from './TranslationView.svelte';

export default viewModule({
  open: (link) => new TranslationExplorer(link),
  View: TranslationView,
  about: {
    shows:
      'An encoder reads an English sentence, and a decoder writes it in German or French, looking back at it for every token.',
    first: { text: 'See which words a word was read from.', focus: '[data-word="1"]' },
  },
});
