#pragma once

#include <memory>
#include <variant>

#include "base/error.hpp"
#include "models/dual_encoder.hpp"
#include "models/encoder_model.hpp"
#include "models/seq2seq.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {

/// A model of any architecture.
using Model = std::variant<std::unique_ptr<EncoderModel>, std::unique_ptr<LanguageModel>,
                           std::unique_ptr<Seq2Seq>, std::unique_ptr<DualEncoder>>;

/// Creates the part of an encoder that reads pictures.
std::unique_ptr<StackInput> make_patch_input(const StackConfig& stack, Compute compute);

/// Points to make_patch_input, or is null in a program that is linked without pictures (see
/// src/linked).
extern std::unique_ptr<StackInput> (*const make_linked_patch_input)(const StackConfig& stack,
                                                                    Compute compute);

/// Creates an encoder that reads tokens or pictures.
std::unique_ptr<EncoderModel> make_encoder_model(const Architecture& architecture, Compute compute);

/// Creates the model of an architecture. Its parameters must be loaded before use.
inline Model make_model(const Architecture& architecture, Compute compute = Compute::f32) {
  if (architecture.text_encoder) {
    return std::make_unique<DualEncoder>(architecture, compute);
  }
  if (!architecture.decoder || architecture.decodes_to_classify()) {
    return make_encoder_model(architecture, compute);
  }
  if (!architecture.encoder) return std::make_unique<LanguageModel>(architecture, compute);
  return std::make_unique<Seq2Seq>(architecture, compute);
}

/// Returns the arithmetic that weights with this header are stored for.
Compute stored_compute(const SafetensorsHeader& header);

inline std::vector<NamedParameter> parameters(const Model& model) {
  return std::visit([](const auto& of_kind) { return of_kind->parameters(); }, model);
}

}  // namespace glassformer
