// `glassformer/view` registers the element <glassformer-attention>. It uses nothing else of the package
// and runs no model.

import { AttentionView, elementName } from './element/element.js';

export type { AttentionKind, AttentionJson, AttentionResult } from './element/result.js';
export { GlassformerError, type ErrorCode } from './base/errors.js';
export { AttentionView };

declare global {
  interface HTMLElementTagNameMap {
    'glassformer-attention': AttentionView;
  }
}

// There are no elements where pages are rendered on a server. A page may load this script twice.
const { customElements } = globalThis;
if (customElements && !customElements.get(elementName)) {
  customElements.define(elementName, AttentionView);
}
