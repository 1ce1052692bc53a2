#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/output.hpp"
#include "api/tasks/generate.hpp"
#include "base/error.hpp"
#include "families/config/model_config.hpp"
#include "models/runner.hpp"
#include "run/trace/trace_plan.hpp"
#include "search/constraints.hpp"
#include "search/sampling_search.hpp"
#include "tasks/writing/output_writer.hpp"

// What all tasks that write texts share.

namespace glassformer {

/// What a decoder computed in the steps along a path, without the encoder's attention.
struct Captured {
  GenerationAttention attention = {};
  std::vector<TracedTensor> trace = {};
};
/// Returns what a request asks for of the steps along the path to `node`. The state must have been
/// begun with the same request.
Captured capture(const DecodingState& state, NodeIndex node, const TraceRequest& request);

/// How texts are written.
struct WritingPlan {
  SearchOptions search = {};
  Constraints constraints = {};
  /// How a single hypothesis gets its next token; unset: BeamSearch compares hypotheses.
  std::optional<TokenChoice> choice = {};
  std::size_t tokens = 0;      ///< with `choice`: how many of the vocabulary may be written
  SpecialTokens special = {};  ///< `start` is the last token of `prompt`
  TraceRequest captured = {};  ///< what is returned of the decoder's steps
  /// Whether the search does not keep that. The tokens of the result are then read again, many at
  /// once, with bit-identical results.
  bool reads_again = false;

  // The batch of texts.
  const Seq2Seq::Encoded* sources = nullptr;  ///< one per text; null without an encoder
  std::vector<std::int32_t> prompt = {};      ///< the decoder's first tokens, the same in all texts
  std::vector<std::size_t> max_lengths = {};  ///< per text, the maximum number of tokens to write
};

/// Tells the scorer the texts that were given, if its constraints refer to them: those that an
/// encoder read or, without one, the prompt.
void give_texts(ConstrainedScorer& scorer, const Constraints& constraints,
                const Seq2Seq::Encoded* sources, std::span<const std::int32_t> prompt);

/// Writes a batch of texts, one token of each per step.
class Writing {
 public:
  /// The tokenizer and the plan must outlive this. `decoding` has read the prompt up to its last
  /// token.
  Writing(WriterRunner runner, const Tokenizer& tokenizer, const WritingPlan& plan,
          DecodingScorer decoding);
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

  /// Sets the tokens with which a text begins. Call it before the first step.
  void force(std::size_t text, std::span<const std::int32_t> prefix);
  /// Writes a token of each text. Returns whether any text is left.
  bool step() { return running_ = search_->step(); }
  bool running() const { return running_; }

  const Search& search() const { return *search_; }
  DecodingState& state() { return decoding_.state(); }

  /// Returns the text and tokens of a hypothesis, or of all hypotheses.
  OutputText output(std::size_t text, const Hypothesis& hypothesis) const;
  std::vector<OutputText> outputs(std::size_t text) const;
  /// Returns what the plan asks for of the steps that wrote the tokens up to `last`.
  Captured captured(std::size_t text, CandidateIndex last) const;

  /// For a stream of the first text: updates leading() after a step. Returns whether the step wrote
  /// a token that adds to it. Log-probabilities must be finite.
  bool follow();
  /// The leading hypothesis, in whole characters. With one beam, it only grows.
  const OutputWriter& leading() const { return *leading_; }
  /// Returns the attention weights of the step that wrote its last token: [L, H, 1, T] and [L, H,
  /// 1, S].
  GenerationAttention leading_attention() const;

 private:
  WriterRunner runner_;
  const Tokenizer& tokenizer_;
  const WritingPlan& plan_;
  DecodingScorer decoding_;
  ConstrainedScorer scorer_;
  std::unique_ptr<Search> search_;
  bool running_ = true;
  std::optional<OutputWriter> leading_;
  CandidateIndex leader_ = 0;  // the last candidate in `leading_`
};

/// Returns the error of a text for which a probability is not finite.
Error non_finite_text();

/// Returns the bytes that the search for a text takes: for each node its keys and values, and about
/// 128 in the trees.
std::uint64_t search_bytes(const StackConfig& decoder, std::uint64_t nodes);
struct SearchSize {
  const char* most;  ///< before the number of tokens in an error
  std::size_t tokens, beams;
  std::uint64_t nodes;
  const char* option;  ///< limits the tokens
};
/// Throws `too_large` if the search for a text may take more than max_search_bytes.
void expect_search_fits(const StackConfig& decoder, const SearchSize& size);

/// Returns the number of attention weights of a decoder's steps.
std::uint64_t decoder_weights(const StackConfig& decoder, const TextLengths& lengths);
/// Returns how many numbers of tensors the result for a text has. Throws `invalid_option` unless
/// the patches fit.
std::uint64_t result_numbers(const ModelConfig& config, const TracePlan& trace,
                             const TextLengths& lengths);

}  // namespace glassformer
