/** Opens all parts of the view that wait for a press. */
export async function openAll(page) {
  for (const name of ['Read every layer', 'Compare two words', 'Set a second text beside it'])
    await page.getByRole('button', { name }).first().click();
}
