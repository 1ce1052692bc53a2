// The whole package in one script: assets.inline.ts replaces assets.ts.

export * from './index.js';
