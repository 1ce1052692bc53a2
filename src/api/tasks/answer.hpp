#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/encoder_options.hpp"
#include "api/tokens.hpp"
#include "run/attention_map.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// Options of a QuestionAnswerer, with the names and defaults of the question-answering pipeline of
/// Transformers 4. Of the encoder's options it uses attention, trace, gradients, patch
/// and ablate.
struct AnswerOptions {
  EncoderOptions encoder = {};
  std::size_t max_seq_len = 384;  ///< tokens that the model reads at once; at most its own maximum
  /// Tokens of the context that a window shares with the one before. Default: 128, or half of
  /// max_seq_len if that is less.
  std::optional<std::size_t> doc_stride = {};
  std::size_t max_answer_len = 15;        ///< in tokens, at least 1
  bool handle_impossible_answer = false;  ///< allow the answer that there is no answer
};

template <class Visit>
void fields(Visit& visit, AnswerOptions& options) {
  visit("attention", options.encoder.attention, about_attention);
  visit("trace", options.encoder.trace, about_trace);
  visit("gradients", options.encoder.gradients, about_gradients);
  visit("patch", options.encoder.patch, about_patch);
  visit("ablate", options.encoder.ablate, about_ablate);
  visit("max_seq_len", options.max_seq_len,
        {.help = "The maximum number of tokens of a window; the model's own limit applies, too.",
         .least = 1});
  visit("doc_stride", options.doc_stride,
        {.help = "A longer context is read in windows, each with the whole question: the number of "
                 "tokens of the context that two neighboring windows share.",
         .absent = "128, or half of a window if that is less"});
  visit("max_answer_len", options.max_answer_len,
        {.help = "The maximum number of tokens of an answer.", .least = 1});
  visit("handle_impossible_answer", options.handle_impossible_answer,
        {.help = "Allow the result that the context has no answer."});
}

/// An answer, and the window of the context, of T tokens, in which the model found it.
struct Answer {
  std::string answer;
  float score;
  std::uint32_t start, end;
  std::vector<InputToken> tokens = {};         ///< [T]
  std::optional<AttentionMap> attention = {};  ///< [layers, heads, T, T], if requested
  std::vector<TracedTensor> trace = {};        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients = {};    ///< of the answer, in the order of the run
};

template <class Visit>
void fields(Visit& visit, Answer& result) {
  visit("answer", result.answer,
        {.help = "A part of the context. Empty if there is no answer, which must be allowed."});
  visit("score", result.score, {.help = "Its probability."});
  visit(
      "start", result.start,
      {.help = "Where it begins in the context, in UTF-16 code units; in Python, in characters."});
  visit("end", result.end, {.help = "Where it ends."});
  visit("tokens", result.tokens,
        {.help = "The tokens of the question (sequence 0) and of the window of the context "
                 "(sequence 1) in which the answer was found."});
  visit.attention({.encoder = &result.attention});
  visit.trace(std::move(result.trace));
  visit.gradients(std::move(result.gradients));
}

}  // namespace glassformer
