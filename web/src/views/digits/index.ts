import { viewModule } from '../../ui/view.ts';
import { DigitsExplorer } from './explorer.svelte.ts';
import DigitsView from './DigitsView.svelte';

export default viewModule({ open: (link) => new DigitsExplorer(link), View: DigitsView });
