import { viewModule } from '../../ui/view.ts';
import { TeachExplorer } from './explorer.svelte.ts';
import TeachView from './TeachView.svelte';

export default viewModule({ open: (link) => new TeachExplorer(link), View: TeachView });
