#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "api/tasks/answer.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class AnswerPipeline;

/// Finds the answer to a question in a text. Any number of threads may call it at a time.
class QuestionAnswerer {
 public:
  /// Opens a model folder. Throws the same errors as Classifier::load.
  static QuestionAnswerer load(const std::filesystem::path& folder,
                               const LoadOptions& options = {});
  explicit QuestionAnswerer(std::unique_ptr<AnswerPipeline> pipeline);
  QuestionAnswerer(QuestionAnswerer&&) noexcept;
  QuestionAnswerer& operator=(QuestionAnswerer&&) noexcept;
  ~QuestionAnswerer();

  Compute compute() const;

  /// Answers a question. Throws `empty_input` if the question or the context has no tokens,
  /// `too_large` if the question leaves no tokens for the context, `invalid_option`, and
  /// `non_finite` if a logit is not finite.
  Answer answer(std::string_view question, std::string_view context,
                const AnswerOptions& options = {});

 private:
  std::unique_ptr<AnswerPipeline> pipeline_;
};

}  // namespace glassformer
