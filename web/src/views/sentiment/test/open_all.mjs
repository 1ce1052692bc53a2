/** Opens all parts of the view that open on demand. */
export async function openAll(page) {
  await page.getByText('ledger', { exact: true }).click();
  await page.getByTestId('show-pair').click();
  for (const name of [
    'Weigh every head',
    'Read every layer',
    'Compare the methods',
    'Classify a list',
    'Find the smallest circuit',
    'Add praise or blame',
  ])
    await page.getByRole('button', { name }).first().click();
}
