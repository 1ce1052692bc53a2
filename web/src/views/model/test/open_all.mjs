import { join } from 'node:path';
import { root } from '../../../../../tests/page/open.mjs';

/** Opens a model and waits for its answer. */
export async function openAll(page) {
  await page.getByTestId('folder').setInputFiles(join(root, 'tests/fixtures/checkpoints/marian'));
  await page.getByTestId('answer').waitFor();
}
