// A page's --glassformer-… properties override the theme's, which are in --_… properties.

const light = `
  --_page: var(--glassformer-page, #f3f5f4);
  --_ink: var(--glassformer-ink, #13201e);
  --_soft: var(--glassformer-soft, #51605d);
  --_line: var(--glassformer-line, #cfd6d4);
  --_accent: var(--glassformer-accent, #2b50c8);
  --_ramp: var(--glassformer-ramp, #eceff4, #c3d1f3, #7f9eea, #3b62d0, #1b329c, #0d1850);
  color-scheme: light;`;

const dark = `
  --_page: var(--glassformer-page, #0d1315);
  --_ink: var(--glassformer-ink, #e8efed);
  --_soft: var(--glassformer-soft, #9aaaa7);
  --_line: var(--glassformer-line, #2a3639);
  --_accent: var(--glassformer-accent, #9dbcff);
  --_ramp: var(--glassformer-ramp, #161e24, #1f2f5c, #2f4cab, #4f7bf0, #9dbcff, #f2f6ff);
  color-scheme: dark;`;

export const css = `
:host { ${light}
  display: block;
  padding: 1rem;
  background: var(--_page);
  color: var(--_ink);
  font: 400 0.9375rem/1.5 var(--glassformer-font, system-ui, sans-serif);
  font-variant-numeric: tabular-nums;
}
@media (prefers-color-scheme: dark) { :host(:not([theme='light'])) { ${dark} } }
:host([theme='dark']) { ${dark} }
:host([hidden]), [hidden] { display: none; }
*, *::before { box-sizing: border-box; }
p { margin: 0; }

.choice { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin-bottom: 0.75rem; }
select { max-width: 16rem; margin-inline-start: 0.25rem; font: inherit; }

.readout { display: flex; justify-content: space-between; gap: 1rem; min-height: 1.5em; overflow-wrap: anywhere; }
.readout q, output { font-weight: 600; }
.spoken { position: absolute; width: 1px; height: 1px; clip-path: inset(50%); overflow: hidden; white-space: nowrap; }

.map { padding: 0.25rem; outline-offset: 2px; }
:focus-visible { outline: 2px solid var(--_accent); }

/* Rows go down and columns go right in every language. */
.figure {
  --_side: calc(var(--_rows) * 0.5rem + 1rem);
  display: grid;
  grid-template: calc(var(--_columns) * 0.5rem + 0.75rem) auto / var(--_side) minmax(0, calc(var(--_keys) * 2.25rem));
  direction: ltr;
  font-size: 0.75rem;
  line-height: 1.25;
}
.columns { position: relative; grid-column: 2; }
.rows { position: relative; }
.plane {
  position: relative;
  aspect-ratio: var(--_keys) / var(--_queries);
  box-shadow: 0 0 0 1px var(--_line);
  cursor: crosshair;
}
canvas { display: block; width: 100%; height: 100%; image-rendering: pixelated; }

.rows bdi, .columns bdi {
  position: absolute;
  max-width: calc(var(--_side) - 0.375rem);
  padding-inline: 0.125rem;
  overflow: hidden;
  color: var(--_soft);
  text-overflow: ellipsis;
  white-space: nowrap;
}
.rows bdi {
  inset: calc(var(--_at) * 100%) 0.375rem auto auto;
  transform: translateY(-50%);
}
.columns bdi {
  bottom: 0.25rem;
  left: calc(var(--_at) * 100%);
  max-width: calc(var(--_columns) * 0.5rem + 0.5rem);
  transform: translateY(50%) rotate(-90deg);
  transform-origin: 0 50%;
}
.rows .here, .columns .here { background: var(--_page); color: var(--_ink); font-weight: 650; }

.line { position: absolute; border: 1px solid var(--_ink); pointer-events: none; }
.row, .point { top: calc(var(--_query) / var(--_queries) * 100%); height: calc(100% / var(--_queries)); }
.column, .point { left: calc(var(--_key) / var(--_keys) * 100%); width: calc(100% / var(--_keys)); }
.row { inset-inline: 0; opacity: 0.35; }
.column { inset-block: 0; opacity: 0.35; }
.point { min-width: 4px; min-height: 4px; border-width: 2px; border-color: var(--_accent); box-shadow: 0 0 0 1px var(--_page); }

details { margin-top: 0.75rem; }
.scroll { max-height: 24rem; overflow: auto; }
table { border-collapse: collapse; font-size: 0.8125rem; }
caption { padding-block: 0.25rem; color: var(--_soft); text-align: start; }
th, td { padding: 0.125rem 0.5rem; border-bottom: 1px solid var(--_line); text-align: start; white-space: nowrap; }
.error { font-weight: 600; overflow-wrap: anywhere; }
`;
