#include "pipelines/make_pipeline.hpp"

#include "pipelines/generate.hpp"
#include "pipelines/translate.hpp"

namespace glassformer {

std::unique_ptr<Pipeline> make_pipeline(PipelineParts parts) {
  auto& [config, tokenizer, target_tokenizer, compute, shortlist] = parts;
  switch (config.task) {
    case Task::translation:
      return std::make_unique<TranslatePipeline>(std::move(config), std::move(tokenizer),
                                                 std::move(target_tokenizer), compute, shortlist);
    case Task::text_generation:
    case Task::text2text_generation:
      return std::make_unique<GeneratePipeline>(std::move(config), std::move(tokenizer), compute);
    default:
      return make_reading_pipeline(std::move(parts));
  }
}

}  // namespace glassformer
