#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/tasks/answer.hpp"
#include "text/model_input.hpp"
#include "text/truncation.hpp"

namespace glassformer {

/// Lengths in tokens, without special ones.
struct QuestionLengths {
  std::size_t question, context;
};

/// Returns the parts of the context that the model reads, each together with the whole question in
/// the template `pair`. If the overlap would fill a window, half of the window overlaps instead.
/// Throws `too_large` if the question leaves no space for the context.
std::vector<TokenWindow> context_windows(std::span<const TemplatePart> pair,
                                         const QuestionLengths& lengths,
                                         const AnswerOptions& options);

/// The best span of one window.
struct AnswerSpan {
  std::uint32_t start, end;         ///< UTF-16 units of the context, whole words
  float score;                      ///< p_start[i] · p_end[j]
  float null_score;                 ///< the same for the first token, which stands for "no answer"
  std::size_t first = 0, last = 0;  ///< tokens of the window, before whole words were made
};

/// Finds the best span of one window. `window`: the question and a part of the context (its second
/// text), with one logit per token for the start of the answer and one for its end. Logits of
/// tokens outside the context, other than the first token, count as -10000, so the softmax is over
/// the first token and the context. The result is the first span with the highest score among the
/// spans i ≤ j < i + max_answer_len within the context. Throws `non_finite` if a logit that counts
/// is not a finite number. The context must have at least one token.
AnswerSpan best_span(const ModelInput& window, std::span<const float> start_logits,
                     std::span<const float> end_logits, std::size_t max_answer_len);

/// Returns the best of the windows' spans, as text; at equal scores, the first one. With
/// handle_impossible_answer, the answer is empty if the smallest null score is higher. There must
/// be at least one window.
Answer best_answer(std::string_view context, std::span<const AnswerSpan> windows,
                   const AnswerOptions& options);

}  // namespace glassformer
