import { viewModule } from '../../ui/view.ts';
import { InsideExplorer } from './explorer.svelte.ts';
import InsideView from './InsideView.svelte';

export default viewModule({
  open: (link) => new InsideExplorer(link),
  View: InsideView,
  about: {
    shows:
      'One token’s way through the model. Each number unfolds into those it was computed from.',
    first: {
      text: 'Unfold a number into its products.',
      press: ':is([data-testid=unfold], [data-testid=strip])',
    },
  },
});
