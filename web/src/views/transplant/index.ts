import { viewModule } from '../../ui/view.ts';
import { TransplantExplorer } from './explorer.svelte.ts';
import TransplantView from './TransplantView.svelte';

export default viewModule({ open: (link) => new TransplantExplorer(link), View: TransplantView });
