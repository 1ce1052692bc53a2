import { viewModule } from '../../ui/view.ts';
import { TeachExplorer } from './explorer.svelte.ts';
import TeachView from './TeachView.svelte';

export default viewModule({
  open: (link) => new TeachExplorer(link),
  View: TeachView,
  about: {
    shows:
      'A Transformer learns in this tab, on the processor: from your sentences, your handwriting, from scratch, or from your own file.',
    first: { text: 'Teach the model sentences that it gets wrong.', press: '[data-testid=teach]' },
  },
});
