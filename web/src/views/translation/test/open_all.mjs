/** Opens all parts of the view that open on demand. */
export async function openAll(page) {
  for (const name of [
    'Weigh every head',
    'Compare two words',
    'Read every layer',
    'Compare with a second sentence',
    'Say “Sie” or “du”',
  ])
    await page.getByRole('button', { name }).first().click();
}
