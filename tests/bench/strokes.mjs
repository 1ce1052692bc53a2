// `node tests/bench/strokes.mjs`: the time from a point of a stroke to the verdict on the drawing, in
// the view Digits of the built page, in Chromium.
import { launch, serve } from '../page/open.mjs';

const server = await serve();
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`${server.url}#view=digits`);
  await page.getByTestId('score').waitFor();
  await page.waitForTimeout(3000); // until V8 has optimized the model
  await page.evaluate(() => {
    window.times = [];
    let from;
    const moved = ({ buttons }) => buttons && (from ??= performance.now());
    document.addEventListener('pointermove', moved, true);
    const shown = () => {
      if (from === undefined || !document.querySelector('[data-testid=score]')) return;
      window.times.push(performance.now() - from);
      from = undefined;
    };
    const options = { subtree: true, characterData: true, childList: true };
    new MutationObserver(shown).observe(document.querySelector('main'), options);
  });
  for (let drawing = 0; drawing < 10; ++drawing) {
    await page.getByTestId('clear').click();
    await page.waitForTimeout(200);
    const { x, y, width } = await page.getByTestId('pad').boundingBox();
    // A 7: to the right, then down.
    const move = (right, down) => page.mouse.move(x + right * width, y + down * width);
    await move(0.3, 0.2);
    await page.mouse.down();
    for (let i = 1; i <= 20; ++i) {
      await move(0.3 + 0.02 * i, 0.2 + 0.06 * Math.max(0, i - 10));
      await page.waitForTimeout(60);
    }
    await page.mouse.up();
    await page.waitForTimeout(300);
  }
  const times = (await page.evaluate(() => window.times)).toSorted((a, b) => a - b);
  const at = (share) => times[Math.floor(share * (times.length - 1))].toFixed(1);
  console.log(
    `${times.length} points: median ${at(0.5)} ms, nine in ten within ${at(0.9)} ms, all within ${at(1)} ms`,
  );
} finally {
  await browser.close();
  await server.close();
}
