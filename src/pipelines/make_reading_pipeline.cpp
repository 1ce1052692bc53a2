#include "pipelines/answer.hpp"
#include "pipelines/classify.hpp"
#include "pipelines/embed.hpp"
#include "pipelines/make_pipeline.hpp"
#include "pipelines/token_classify.hpp"

namespace glassformer {

std::unique_ptr<Pipeline> make_reading_pipeline(PipelineParts parts) {
  auto& [config, tokenizer, target_tokenizer, compute, shortlist] = parts;
  switch (config.task) {
    case Task::text_classification:
      return std::make_unique<ClassifyPipeline>(std::move(config), std::move(tokenizer), compute);
    case Task::token_classification:
      return std::make_unique<TokenClassifyPipeline>(std::move(config), std::move(tokenizer),
                                                     compute);
    case Task::question_answering:
      return std::make_unique<AnswerPipeline>(std::move(config), std::move(tokenizer), compute);
    case Task::feature_extraction:
      return std::make_unique<EmbedPipeline>(std::move(config), std::move(tokenizer), compute);
    default:
      return nullptr;
  }
}

}  // namespace glassformer
