#include "tasks/make_pipeline.hpp"

#include "linked.hpp"
#include "tasks/answer/answer.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/embed/embed.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/reading/token_checks.hpp"
#include "tasks/tag/token_classify.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer {
namespace {

std::unique_ptr<Pipeline> make_writer(PipelineParts parts) {
  auto& [config, tokenizer, target_tokenizer, compute, shortlist] = parts;
  if (config.task == Task::translation) {
    return std::make_unique<TranslatePipeline>(std::move(config), std::move(tokenizer),
                                               std::move(target_tokenizer), compute, shortlist);
  }
  return std::make_unique<GeneratePipeline>(std::move(config), std::move(tokenizer), compute);
}

std::unique_ptr<Pipeline> make_reader(PipelineParts parts) {
  auto& [config, tokenizer, target_tokenizer, compute, shortlist] = parts;
  switch (config.task) {
    case Task::text_classification:
      return std::make_unique<ClassifyPipeline>(std::move(config), std::move(tokenizer), compute);
    case Task::token_classification:
      return std::make_unique<TokenClassifyPipeline>(std::move(config), std::move(tokenizer),
                                                     compute);
    case Task::question_answering:
      return std::make_unique<AnswerPipeline>(std::move(config), std::move(tokenizer), compute);
    default:
      return std::make_unique<EmbedPipeline>(std::move(config), std::move(tokenizer), compute);
  }
}

}  // namespace

std::unique_ptr<Pipeline> make_pipeline(PipelineParts parts) {
  check_special_tokens(parts.config, *parts.tokenizer, parts.target_tokenizer.get());
  const bool writer = writes(parts.config.task);
  if (links_writers() && writer) return make_writer(std::move(parts));
  if (links_readers() && !writer) return make_reader(std::move(parts));
  throw NotLinked();
}

}  // namespace glassformer
