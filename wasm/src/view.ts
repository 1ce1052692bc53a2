// `glassformer/view`: the element <glassformer-attention>, which importing this registers. It needs
// nothing of the rest of the package, and runs no model.

import { AttentionView, elementName } from './element/element.js';

export type { AttentionKind, AttentionJson, AttentionResult } from './element/result.js';
export { GlassformerError, type ErrorCode } from './base/errors.js';
export { AttentionView };

declare global {
  interface HTMLElementTagNameMap {
    'glassformer-attention': AttentionView;
  }
}

// Where pages are made on a server there are no elements; a page may load two copies of this.
const { customElements } = globalThis;
if (customElements && !customElements.get(elementName)) {
  customElements.define(elementName, AttentionView);
}
