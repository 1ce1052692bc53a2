import { viewModule } from '../../ui/view.ts';
import { WritingExplorer } from './explorer.svelte.ts';
import WritingView from './WritingView.svelte';

export default viewModule({
  open: (link) => new WritingExplorer(link),
  View: WritingView,
  about: {
    shows:
      'A decoder, like GPT, continues a review. At each step it has a probability for every token it knows.',
    first: 'Press another token than the likeliest and see where the text goes.',
  },
});
