#include "glassformer/question_answerer.hpp"

#include "tasks/answer/answer.hpp"
#include "tasks/load.hpp"

namespace glassformer {

QuestionAnswerer QuestionAnswerer::load(const std::filesystem::path& folder,
                                        const LoadOptions& options) {
  return QuestionAnswerer(load_pipeline<AnswerPipeline>(folder, options));
}

QuestionAnswerer::QuestionAnswerer(std::unique_ptr<AnswerPipeline> pipeline)
    : pipeline_(std::move(pipeline)) {}
QuestionAnswerer::QuestionAnswerer(QuestionAnswerer&&) noexcept = default;
QuestionAnswerer& QuestionAnswerer::operator=(QuestionAnswerer&&) noexcept = default;
QuestionAnswerer::~QuestionAnswerer() = default;

Compute QuestionAnswerer::compute() const { return pipeline_->compute(); }

Answer QuestionAnswerer::answer(std::string_view question, std::string_view context,
                                const AnswerOptions& options) {
  return pipeline_->answer(question, context, options);
}

}  // namespace glassformer
