#include "models/model.hpp"

#include <algorithm>

#include "models/stack/patch_embeddings.hpp"

namespace glassformer {

std::unique_ptr<StackInput> make_patch_input(const StackConfig& stack, Compute compute) {
  return std::make_unique<PatchEmbeddings>(stack, compute);
}

std::unique_ptr<EncoderModel> make_encoder_model(const Architecture& architecture,
                                                 Compute compute) {
  const StackConfig& stack = *architecture.encoder;
  if (!make_linked_patch_input || !reads_pictures(stack)) {
    return std::make_unique<EncoderModel>(architecture, compute);
  }
  return std::make_unique<EncoderModel>(architecture, compute,
                                        make_linked_patch_input(stack, compute));
}

Compute stored_compute(const SafetensorsHeader& header) {
  const std::vector<TensorInfo>& tensors = header.tensors();
  const auto is_int8 = [](const TensorInfo& tensor) { return tensor.dtype == DType::i8; };
  const auto is_int4 = [&](const TensorInfo& tensor) {  // not so a mask, which may be U8, too
    return tensor.dtype == DType::u8 &&
           std::ranges::find(tensors, tensor.name + "_scale", &TensorInfo::name) != tensors.end();
  };
  if (std::ranges::any_of(tensors, is_int4)) return Compute::int4;
  return std::ranges::any_of(tensors, is_int8) ? Compute::int8 : Compute::f32;
}

}  // namespace glassformer
