import { viewModule } from '../../ui/view.ts';
import { StudyExplorer } from './explorer.svelte.ts';
import StudyView from './StudyView.svelte';

export default viewModule({
  open: (link) => new StudyExplorer(link),
  View: StudyView,
  about: {
    shows:
      'One text proves little. Here an intervention runs on a whole set, and the mean effect comes with its 95% interval.',
    first: {
      text: 'Run the study, then compare zeros with the mean.',
      press: '[data-testid=study-run]',
    },
  },
});
