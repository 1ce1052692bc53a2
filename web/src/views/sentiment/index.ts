import { viewModule } from '../../ui/view.ts';
import { SentimentExplorer } from './explorer.svelte.ts';
import SentimentView from './SentimentView.svelte';

export default viewModule({ open: (link) => new SentimentExplorer(link), View: SentimentView });
