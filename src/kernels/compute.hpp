#pragma once

namespace glassformer {

/// The numbers that matrix products multiply: floats or integers. With `int8`, weights are 8-bit
/// integers, each row of activations becomes 7-bit integers with its own scale and zero point, and
/// sums are exact. It is two to four times as fast and takes a quarter of the memory; results
/// differ in the third digit. With `int4`, the weights of attention and feed-forward blocks are
/// 4-bit integers in groups with a scale each, and take a seventh of the memory; everything else is
/// as with `int8`.
enum class Compute { f32, int8, int4 };

/// Returns "f32", "int8" or "int4".
inline const char* to_string(Compute compute) {
  return compute == Compute::f32 ? "f32" : compute == Compute::int8 ? "int8" : "int4";
}

/// Returns what a model computes outside its blocks, in embeddings and in the product that gives
/// logits: nothing with fewer than 8 bits.
inline Compute outside_blocks(Compute compute) {
  return compute == Compute::f32 ? Compute::f32 : Compute::int8;
}

}  // namespace glassformer
