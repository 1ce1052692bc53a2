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

/// Creates an encoder that reads tokens or pictures.
std::unique_ptr<EncoderModel> make_encoder_model(const Architecture& architecture, Compute compute);

/// Whether this program has dual encoders.
inline bool links_dual_encoders() { return links_texts && links_pictures; }

/// Creates the model of an architecture. Its parameters must be loaded before use. Throws
/// `unsupported` if the program lacks models with decoders.
inline Model make_model(const Architecture& architecture, Compute compute = Compute::f32) {
  if (!links_decoders && architecture.decoder) {
    throw_error(ErrorCode::unsupported, "expected a model without a decoder");
  }
  if (links_dual_encoders() && architecture.text_encoder) {
    return std::make_unique<DualEncoder>(architecture, compute);
  }
  if (!links_decoders || !architecture.decoder || architecture.decodes_to_classify()) {
    return make_encoder_model(architecture, compute);
  }
  if (!architecture.encoder) return std::make_unique<LanguageModel>(architecture, compute);
  return std::make_unique<Seq2Seq>(architecture, compute);
}

/// Returns the arithmetic that weights with this header are stored for.
Compute stored_compute(const SafetensorsHeader& header);

inline std::vector<NamedParameter> parameters(const Model& model) {
  if (!links_decoders) return std::get<std::unique_ptr<EncoderModel>>(model)->parameters();
  return std::visit([](const auto& of_kind) { return of_kind->parameters(); }, model);
}

}  // namespace glassformer
