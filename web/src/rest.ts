/**
 * What is fetched once it is wanted, in one file: all views but the first, and parts of that one. It
 * compresses best with like beside like: states, views, parts.
 */
export { InsideExplorer } from './lib/inside/explorer.svelte.ts';
export { ModelExplorer } from './lib/model-explorer.svelte.ts';
export { TranslationExplorer } from './lib/translation-explorer.svelte.ts';
export { TransplantExplorer } from './lib/transplant-explorer.svelte.ts';
export { WritingExplorer } from './lib/writing-explorer.svelte.ts';
export { default as TranslationView } from './components/TranslationView.svelte';
export { default as WritingView } from './components/WritingView.svelte';
export { default as ModelView } from './components/ModelView.svelte';
export { default as TransplantView } from './components/TransplantView.svelte';
export { default as InsideView } from './components/InsideView.svelte';
export { default as BenchView } from './components/BenchView.svelte';
export { default as Ledger } from './components/Ledger.svelte';
export { default as MethodRows } from './components/MethodRows.svelte';
export { default as QueryKey } from './components/QueryKey.svelte';
export { default as TextTable } from './components/TextTable.svelte';
export { default as Tour } from './components/Tour.svelte';
