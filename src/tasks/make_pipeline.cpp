#include "tasks/make_pipeline.hpp"

#include "families/linked.hpp"
#include "models/model.hpp"
#include "tasks/reading/token_checks.hpp"
#include "text/hub/tokenizer_files.hpp"

namespace glassformer {

std::unique_ptr<Pipeline> make_pipeline(PipelineParts parts) {
  const bool compares = parts.config.architecture.text_encoder.has_value();
  if (compares || !reads_pictures(parts.config)) {
    if (!parts.tokenizer) refuse_missing_tokenizer();
    check_special_tokens(parts.config, *parts.tokenizer, parts.target_tokenizer.get());
  }
  for (const auto& [task, make] : linked_tasks) {
    if (task == parts.config.task) return make(parts);
  }
  throw NotLinked();
}

}  // namespace glassformer
