import type { Plugin } from 'vite';

/** The page's Content-Security-Policy, set by a meta element and by the server's header. */
export const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' blob:",
  // Models that a visitor asks for by name. Large files are on other hosts of Hugging Face.
  "connect-src 'self' https://huggingface.co https://*.huggingface.co https://*.hf.co",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Pages of this computer, for trying a frame before it is published. */
const thisComputer = "'self' http://localhost:* http://127.0.0.1:*";

/**
 * Returns the headers for serving the page. In a meta element, frame-ancestors would have no effect.
 * Two headers isolate the page, so that models get threads.
 * `ancestors` lists the origins that may show the page in a frame, such as
 * "https://example.org 'self'".
 */
export function headersFor(ancestors = thisComputer): Record<string, string> {
  if (!/^[\w\-.:/*' ]+$/.test(ancestors)) {
    throw new RangeError(`FRAME_ANCESTORS: expected origins, got ${JSON.stringify(ancestors)}`);
  }
  return {
    'Content-Security-Policy': `${policy}; frame-ancestors ${ancestors}`,
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
}

/** Sets the policy in the built page, but not in development, where the server injects styles. */
export function contentSecurityPolicy(): Plugin {
  return {
    name: 'content-security-policy',
    apply: 'build',
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
        injectTo: 'head-prepend',
      },
    ],
  };
}
