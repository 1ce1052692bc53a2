import { viewModule } from '../../ui/view.ts';
import { TranslationExplorer } from './explorer.svelte.ts';
import TranslationView from './TranslationView.svelte';

export default viewModule({
  open: (link) => new TranslationExplorer(link),
  View: TranslationView,
  about: {
    shows:
      'An encoder reads an English sentence, and a decoder writes it in German or French, token by token, looking back at the words it translates.',
    first: 'Point at a word of the translation to see which English words it was read from.',
  },
});
