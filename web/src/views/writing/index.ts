import { viewModule } from '../../ui/view.ts';
import { WritingExplorer } from './explorer.svelte.ts';
import WritingView from './WritingView.svelte';

export default viewModule({
  open: (link) => new WritingExplorer(link),
  View: WritingView,
  about: {
    shows:
      'A decoder, like GPT, continues a review. At each step it has a probability for every token.',
    first: {
      text: 'Take another token than the likeliest.',
      press: 'li:nth-child(2) > [data-testid=next]',
    },
  },
});
