// The whole package in one script: assets.inline.ts takes the place of assets.ts.

export * from './index.js';
