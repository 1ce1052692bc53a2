// @glassformer/html: translations of HTML, and of texts with placeholders.

export { translateHtml, translateText } from './html/translate.js';
export type { TranslateHtmlOptions, TranslateTextOptions } from './html/translate.js';
