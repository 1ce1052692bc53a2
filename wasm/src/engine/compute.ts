/**
 * The arithmetic of matrix products: floats; or 8-bit integer weights times activations rounded to 7
 * bits, which is two to four times as fast, takes a quarter of the memory, and changes answers in
 * the third digit; or these with 4-bit weights in attention and feed-forward blocks, which take half
 * of the memory again, and change answers more: for large models.
 */
export type Compute = 'f32' | 'int8' | 'int4';

/** The WebAssembly binary in use: plain SIMD128, or relaxed SIMD. */
export type Binary = 'simd' | 'relaxed';
