#pragma once

#include <memory>
#include <variant>

#include "io/safetensors.hpp"
#include "models/classifier.hpp"
#include "models/seq2seq.hpp"

namespace glassformer {

/// A model of any architecture.
using Model = std::variant<std::unique_ptr<EncoderClassifier>, std::unique_ptr<Seq2Seq>>;

/// The one that the configuration describes, whose parameters are to be loaded.
inline Model make_model(const ModelConfig& config, Compute compute = Compute::f32) {
  if (config.is_translation()) return std::make_unique<Seq2Seq>(config, compute);
  return std::make_unique<EncoderClassifier>(config, compute);
}

/// What weights with this header are stored for.
Compute stored_compute(const SafetensorsHeader& header);

inline std::vector<Parameter> parameters(const Model& model) {
  return std::visit([](const auto& of_kind) { return of_kind->parameters(); }, model);
}

}  // namespace glassformer
