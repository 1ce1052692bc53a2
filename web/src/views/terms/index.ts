import { viewModule } from '../../ui/view.ts';
import { TermsExplorer } from './explorer.svelte.ts';
import TermsView from './TermsView.svelte';

export default viewModule({
  open: (link) => new TermsExplorer(link),
  View: TermsView,
  about: {
    shows: 'The field’s words from A to Z, each with a place where you can see it live.',
    first: { text: 'Search terms, views and lessons.', focus: '[data-testid=query]' },
  },
});
