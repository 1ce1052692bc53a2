#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "glassformer/question_answerer.hpp"
#include "text/model_input.hpp"
#include "text/truncation.hpp"

namespace glassformer {

/// Lengths in tokens, without special ones.
struct QuestionLengths {
  std::size_t question, context;
};

/// The parts of the context that the model reads, each with the whole question in the template
/// `pair`. Where a window would have no room for more than the overlap, half of it overlaps.
/// Throws `too_large` for a question that leaves no room.
std::vector<TokenWindow> context_windows(std::span<const TemplatePart> pair,
                                         const QuestionLengths& lengths,
                                         const AnswerOptions& options);

/// The best span of one window.
struct AnswerSpan {
  std::uint32_t start, end;  ///< UTF-16 units of the context, whole words
  float score;               ///< p_start[i] · p_end[j]
  float null_score;          ///< the same of the first token: that the window has no answer
};

/// `window`: the question and a part of the context (its second text), with one logit for the start
/// and one for the end of the answer per token. Logits of other tokens but the first count as
/// -10000, so the softmax is over the first token and the context. Of the spans i ≤ j < i +
/// max_answer_len within the context it is the first with the highest score. Throws `non_finite`
/// where a logit that counts is not a finite number. The context has a token at least.
AnswerSpan best_span(const ModelInput& window, std::span<const float> start_logits,
                     std::span<const float> end_logits, std::size_t max_answer_len);

/// The best of the windows' spans, as text; at equal scores the first. With
/// handle_impossible_answer, no answer where the least null score is higher. At least one window.
Answer best_answer(std::string_view context, std::span<const AnswerSpan> windows,
                   const AnswerOptions& options);

}  // namespace glassformer
