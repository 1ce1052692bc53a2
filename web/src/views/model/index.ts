import { viewModule } from '../../ui/view.ts';
import { ModelExplorer } from './explorer.svelte.ts';
import ModelView from './ModelView.svelte';

export default viewModule({ open: () => new ModelExplorer(), View: ModelView });
