import { viewModule } from '../../ui/view.ts';
import { CourseExplorer } from './explorer.svelte.ts';
import CourseView from './CourseView.svelte';

export default viewModule({
  open: (link) => new CourseExplorer(link),
  View: CourseView,
  about: {
    shows: 'The Transformer in lessons of three minutes, each computed from your own sentence.',
    first: { text: 'Guess before you look.', focus: '[data-testid=choice]' },
  },
});
