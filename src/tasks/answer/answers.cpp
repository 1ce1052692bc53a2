#include "tasks/answer/answers.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/strings/utf16_cursor.hpp"
#include "tasks/reading/scores.hpp"

namespace glassformer {
namespace {

// Returns the probabilities of the first token and of the context's tokens.
std::vector<float> probabilities_of(std::span<const float> logits,
                                    std::span<const std::size_t> context) {
  std::vector<float> result{logits[0]};
  for (const std::size_t position : context) result.push_back(logits[position]);
  to_scores(Scoring::softmax, result);
  return result;
}

struct Best {
  std::size_t first = 0, last = 0;
  float score = -1;
};

Best find_best(std::span<const float> start, std::span<const float> end,
               std::size_t max_answer_len) {
  Best best;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::size_t behind = i + std::min(max_answer_len, end.size() - i);
    for (std::size_t j = i; j < behind; ++j) {
      const float score = start[i] * end[j];
      if (score > best.score) best = {i, j, score};
    }
  }
  return best;
}

}  // namespace

std::vector<TokenWindow> context_windows(std::span<const TemplatePart> pair,
                                         const QuestionLengths& lengths,
                                         const AnswerOptions& options) {
  const std::size_t special = special_tokens_of(pair);
  if (special + lengths.question >= options.max_seq_len) {
    const std::size_t most = options.max_seq_len - std::min(options.max_seq_len, special + 1);
    throw_error(ErrorCode::too_large, {"question: expected at most {} tokens, so that one token of "
                                       "the context fits, too, got {}; shorten the question",
                                       {most, lengths.question}});
  }
  const std::size_t room = options.max_seq_len - special - lengths.question;
  const std::size_t half = options.max_seq_len / 2;
  const std::size_t overlap = options.doc_stride.value_or(std::min<std::size_t>(128, half));
  return overlapping_windows(lengths.context, room, overlap < room ? overlap : room / 2);
}

AnswerSpan best_span(const ModelInput& window, std::span<const float> start_logits,
                     std::span<const float> end_logits, std::size_t max_answer_len) {
  std::vector<std::size_t> context;
  for (std::size_t i = 0; i < window.kinds.size(); ++i) {
    if (window.kinds[i] == TemplatePart::Kind::second_text) context.push_back(i);
  }
  const std::vector<float> start = probabilities_of(start_logits, context);
  const std::vector<float> end = probabilities_of(end_logits, context);
  const Best best =
      find_best(std::span(start).subspan(1), std::span(end).subspan(1), max_answer_len);

  const auto token = [&](std::size_t i) -> const Token& { return window.tokens[context[i]]; };
  std::size_t first = best.first, last = best.last;
  while (first > 0 && !token(first).starts_word) --first;
  while (last + 1 < context.size() && !token(last + 1).starts_word) ++last;
  return {.start = token(first).start,
          .end = token(last).end,
          .score = best.score,
          .null_score = start[0] * end[0],
          .first = context[best.first],
          .last = context[best.last]};
}

Answer best_answer(std::string_view context, std::span<const AnswerSpan> windows,
                   const AnswerOptions& options) {
  const AnswerSpan& best = *std::ranges::max_element(windows, {}, &AnswerSpan::score);
  const float null_score =
      std::ranges::min_element(windows, {}, &AnswerSpan::null_score)->null_score;
  if (options.handle_impossible_answer && null_score > best.score) {
    return {.answer = "", .score = null_score, .start = 0, .end = 0};
  }
  Utf16Cursor cursor(context);
  const std::size_t begin = cursor.seek(best.start);
  return {.answer = std::string(context.substr(begin, cursor.seek(best.end) - begin)),
          .score = best.score,
          .start = best.start,
          .end = best.end};
}

}  // namespace glassformer
