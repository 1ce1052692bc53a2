#include "models/model.hpp"

#include <algorithm>

#include "models/stack/patch_embeddings.hpp"

namespace glassformer {

std::unique_ptr<EncoderModel> make_encoder_model(const Architecture& architecture,
                                                 Compute compute) {
  const StackConfig& stack = *architecture.encoder;
  if (!reads_pictures(stack)) return std::make_unique<EncoderModel>(architecture, compute);
  return std::make_unique<EncoderModel>(architecture, compute,
                                        std::make_unique<PatchEmbeddings>(stack, compute));
}

Compute stored_compute(const SafetensorsHeader& header) {
  const auto is_int8 = [](const TensorInfo& tensor) { return tensor.dtype == DType::i8; };
  return std::ranges::any_of(header.tensors(), is_int8) ? Compute::int8 : Compute::f32;
}

}  // namespace glassformer
