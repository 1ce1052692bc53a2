import { viewModule } from '../../ui/view.ts';
import { TransplantExplorer } from './explorer.svelte.ts';
import TransplantView from './TransplantView.svelte';

export default viewModule({
  open: (link) => new TransplantExplorer(link),
  View: TransplantView,
  about: {
    shows:
      'Activation patching: a vector of one text takes the place of another’s, and the verdict shows what that vector carried.',
    first: {
      text: 'Carry a vector into the other text.',
      press: '[data-testid=transplant] [data-strong]',
    },
  },
});
