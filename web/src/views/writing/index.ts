import { viewModule } from '../../ui/view.ts';
import { WritingExplorer } from './explorer.svelte.ts';
import WritingView from './WritingView.svelte';

export default viewModule({ open: (link) => new WritingExplorer(link), View: WritingView });
