import { viewModule } from '../../ui/view.ts';
import { ModelExplorer } from './explorer.svelte.ts';
import ModelView from './ModelView.svelte';

export default viewModule({
  open: (link) => new ModelExplorer(link),
  View: ModelView,
  about: {
    shows: 'Open a model from your disk or of Hugging Face, by its name. Nothing is uploaded.',
    first: {
      text: 'Choose a model’s folder, or drop it on the page.',
      press: '[data-testid=drop] button',
    },
  },
});
