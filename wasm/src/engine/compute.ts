/**
 * The arithmetic of matrix products: floats; or 8-bit integer weights times activations rounded to 7
 * bits, which is two to four times as fast, takes a quarter of the memory, and changes answers in
 * the third digit.
 */
export type Compute = 'f32' | 'int8';

/** The WebAssembly binary in use: plain SIMD128, or relaxed SIMD. */
export type Binary = 'simd' | 'relaxed';
