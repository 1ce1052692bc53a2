/** Opens all parts of the view that open on demand. */
export async function openAll(page) {
  for (const name of ['Read every layer', 'Compare two words', 'Compare with a second text'])
    await page.getByRole('button', { name }).first().click();
}
