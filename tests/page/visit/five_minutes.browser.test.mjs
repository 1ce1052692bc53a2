// The five-minute test: a newcomer finds each part of a Transformer from the first view, by the words
// and controls that are to be seen, with at most three actions each.
import assert from 'node:assert/strict';
import { testsOnPage } from '../on_page.mjs';
import { settled } from '../open.mjs';

const onPage = testsOnPage();

const menu = (name) => (page) =>
  page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name, exact: true });
const box =
  (name, nth = 0) =>
  (page) =>
    page.getByTestId('figure').getByRole('link', { name }).nth(nth);
const heading = (name) => (page) => page.getByRole('heading', { name }).first();

/** What to find: the controls to press, and what must be in sight then. */
const searches = {
  embedding: { press: [box(/^Embedding/)], found: heading(/^Token embedding/) },
  'positional encoding': {
    press: [box(/^Positional encoding/)],
    found: heading(/positional encoding/i),
  },
  'one head’s q · k': {
    press: [box(/^Multi-head attention/)],
    found: heading(/query · key/i),
  },
  'the residual sum': { press: [box(/Add/)], found: heading(/^Residual connection/) },
  'the mask': {
    press: [menu('Translation'), box(/^Masked multi-head attention/)],
    found: heading(/mask/i),
  },
  'cross-attention': {
    press: [menu('Translation'), box(/^Cross-attention/)],
    found: (page) => page.getByText(/^Cross-attention: the query/),
  },
  'the training curve': {
    press: [menu('Learn'), (page) => page.getByRole('link', { name: /^\d* ?Training/ })],
    found: (page) => page.getByRole('img', { name: /loss/i }).first(),
  },
  'the code of softmax': {
    press: [
      menu('Learn'),
      (page) => page.getByRole('link', { name: /Softmax/ }),
      (page) => page.getByRole('tab', { name: 'PyTorch' }),
    ],
    found: (page) => page.getByText('torch.softmax').first(),
  },
};

for (const [what, { press, found }] of Object.entries(searches)) {
  onPage(`a newcomer finds ${what}`, {}, async (page) => {
    assert.ok(press.length <= 3);
    for (const control of press) {
      const there = control(page);
      await there.waitFor();
      await there.click();
      await settled(page).catch(() => undefined);
    }
    const goal = found(page);
    await goal.waitFor();
    await page.waitForFunction(
      (element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return bottom > 0 && top < innerHeight * 2;
      },
      await goal.elementHandle(),
    );
  });
}
