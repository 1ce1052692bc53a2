// @glassformer/element registers the element <glassformer-attention>. It needs no other package and runs
// no model.

import { AttentionView, elementName } from './element/element.js';
import type { AttentionKind, AttentionResult } from './element/result.js';

export type { AttentionKind, AttentionJson, AttentionResult } from './element/result.js';
export { GlassformerError, type ErrorCode } from './base/errors.js';
export { AttentionView };

/** The properties of `<glassformer-attention>` in JSX. */
export interface AttentionProps {
  result?: AttentionResult | string | undefined;
  attention?: AttentionKind | undefined;
  layer?: number | string | undefined;
  head?: number | string | undefined;
  sentence?: number | string | undefined;
  theme?: 'light' | 'dark' | undefined;
  /** Those of every element, such as `class` and `id`. */
  [name: string]: unknown;
}

/** The element by its name, for JSX. Where JSX is a module's own, as in React 19, extend it by this. */
export interface AttentionElements {
  'glassformer-attention': AttentionProps;
}

declare global {
  namespace JSX {
    interface IntrinsicElements extends AttentionElements {}
  }
  interface HTMLElementTagNameMap {
    'glassformer-attention': AttentionView;
  }
}

// There are no elements where pages are rendered on a server. A page may load this script twice.
const { customElements } = globalThis;
if (customElements && !customElements.get(elementName)) {
  customElements.define(elementName, AttentionView);
}
