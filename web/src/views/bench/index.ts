import { viewModule, type ViewState } from '../../ui/view.ts';
import BenchView from './BenchView.svelte';

/** A view without state in the address. */
const state: ViewState = {
  start: () => undefined,
  follow: () => undefined,
  link: {},
  ready: false,
  working: false,
};

export default viewModule({
  open: () => state,
  View: BenchView,
  about: {
    shows: 'How fast the models run here, in your browser, on your machine.',
    first: { text: 'Run it.', press: '[data-testid=bench] button' },
  },
});
