#include "pipelines/make_pipeline.hpp"

#include "pipelines/answer.hpp"
#include "pipelines/classify.hpp"
#include "pipelines/embed.hpp"
#include "pipelines/generate.hpp"
#include "pipelines/token_classify.hpp"
#include "pipelines/translate.hpp"

namespace glassformer {

std::unique_ptr<Pipeline> make_pipeline(PipelineParts parts) {
  auto& [config, tokenizer, target_tokenizer, compute, shortlist] = parts;
  switch (config.task) {
    case Task::text_classification:
      return std::make_unique<ClassifyPipeline>(std::move(config), std::move(tokenizer), compute);
    case Task::translation:
      return std::make_unique<TranslatePipeline>(std::move(config), std::move(tokenizer),
                                                 std::move(target_tokenizer), compute, shortlist);
    case Task::token_classification:
      return std::make_unique<TokenClassifyPipeline>(std::move(config), std::move(tokenizer),
                                                     compute);
    case Task::question_answering:
      return std::make_unique<AnswerPipeline>(std::move(config), std::move(tokenizer), compute);
    case Task::feature_extraction:
      return std::make_unique<EmbedPipeline>(std::move(config), std::move(tokenizer), compute);
    case Task::text_generation:
    case Task::text2text_generation:
      return std::make_unique<GeneratePipeline>(std::move(config), std::move(tokenizer), compute);
  }
  return nullptr;
}

}  // namespace glassformer
