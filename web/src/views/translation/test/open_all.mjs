/** Opens all parts of the view that wait for a press. */
export async function openAll(page) {
  for (const name of [
    'Weigh every head',
    'Compare two words',
    'Read every layer',
    'Set a second sentence beside it',
  ])
    await page.getByRole('button', { name }).first().click();
}
