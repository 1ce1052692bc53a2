/** What web/build/model-types.ts finds. */
declare module 'model-types' {
  const types: readonly string[];
  export default types;
}
