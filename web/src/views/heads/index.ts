import { viewModule } from '../../ui/view.ts';
import { HeadsExplorer } from './explorer.svelte.ts';
import HeadsView from './HeadsView.svelte';

export default viewModule({
  open: (link) => new HeadsExplorer(link),
  View: HeadsView,
  about: {
    shows:
      'Every attention head of the shipped models: what it attends to on a thousand texts, and what is lost without it.',
    first: { text: 'Open the head that matters most.', press: '[data-testid=card] a' },
  },
});
