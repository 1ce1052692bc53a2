import { viewModule } from '../../ui/view.ts';
import { SentimentExplorer } from './explorer.svelte.ts';
import SentimentView from './SentimentView.svelte';

export default viewModule({
  open: (link) => new SentimentExplorer(link),
  View: SentimentView,
  about: {
    shows:
      'A Transformer reads your review in this page and decides whether it is positive. Every number on the way is here to see, and to change.',
    first: { text: 'Hide a word from the model.', press: '[data-testid=token]:nth-of-type(2)' },
  },
});
