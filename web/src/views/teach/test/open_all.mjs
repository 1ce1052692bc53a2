/** Teaches the example sentences and opens what else they changed. */
export async function openAll(page) {
  await page.getByTestId('teach').click();
  await page.locator('[data-testid=learning][data-phase=done]').waitFor();
  await page.locator('[data-testid=result] summary').click();
}
