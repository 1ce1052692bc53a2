import { viewModule } from '../../ui/view.ts';
import { InsideExplorer } from './explorer.svelte.ts';
import InsideView from './InsideView.svelte';

export default viewModule({ open: (link) => new InsideExplorer(link), View: InsideView });
