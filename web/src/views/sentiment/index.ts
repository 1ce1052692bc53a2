import { viewModule } from '../../ui/view.ts';
import { SentimentExplorer } from './explorer.svelte.ts';
import SentimentView from './SentimentView.svelte';

export default viewModule({
  open: (link) => new SentimentExplorer(link),
  View: SentimentView,
  about: {
    shows:
      'A Transformer in this page reads your review and judges it. You can see and change every number.',
    first: { text: 'Hide a word from the model.', press: '[data-testid=token]:nth-of-type(2)' },
  },
});
