import { viewModule } from '../../ui/view.ts';
import { CourseExplorer } from './explorer.svelte.ts';
import CourseView from './CourseView.svelte';

export default viewModule({ open: (link) => new CourseExplorer(link), View: CourseView });
