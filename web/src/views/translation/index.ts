import { viewModule } from '../../ui/view.ts';
import { TranslationExplorer } from './explorer.svelte.ts';
import TranslationView from './TranslationView.svelte';

export default viewModule({ open: (link) => new TranslationExplorer(link), View: TranslationView });
