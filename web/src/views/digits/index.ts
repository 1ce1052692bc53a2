import { viewModule } from '../../ui/view.ts';
import { DigitsExplorer } from './explorer.svelte.ts';
import DigitsView from './DigitsView.svelte';

export default viewModule({
  open: (link) => new DigitsExplorer(link),
  View: DigitsView,
  about: {
    shows:
      'A Vision Transformer (Dosovitskiy et al. 2021) cuts a drawing into patches and reads them as other models read words.',
    first: { text: 'Wipe a patch of the digit.', press: '[data-testid=patch][data-patch="24"]' },
  },
});
