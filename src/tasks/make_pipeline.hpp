#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "tasks/pipeline.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// What a pipeline is made of, beside its weights.
struct PipelineParts {
  ModelConfig config;
  std::unique_ptr<const Tokenizer> tokenizer;
  std::unique_ptr<const Tokenizer> target_tokenizer;  ///< of translations; null: the same one
  Compute compute = Compute::f32;
  std::optional<std::span<const std::byte>> shortlist = {};  ///< of translations
};

/// The pipeline of the task that the configuration is for. Throws NotLinked, and what its
/// constructor throws.
std::unique_ptr<Pipeline> make_pipeline(PipelineParts parts);

}  // namespace glassformer
