#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class ClassifyPipeline;

/// What may be asked of a Classifier.
using ClassifyOptions = EncoderOptions;

/// What a text is, of T tokens; L layers with H heads read it. There are C labels.
struct Classification {
  std::string label;  ///< the one with the highest score
  float score;        ///< its score
  /// [C] of each label, in the order of Classifier::labels: probabilities that sum to 1; where
  /// several labels may be right at once, of each by itself; of a model that estimates a quantity,
  /// the logits.
  std::vector<float> scores;
  std::vector<float> logits;              ///< [C] what the scores are made of
  std::vector<InputToken> tokens;         ///< [T] what the model read
  bool clipped;                           ///< there was more than the model takes at once
  std::optional<AttentionMap> attention;  ///< [L, H, T, T], if asked for
  std::vector<TracedTensor> trace;        ///< what was asked for, in the order of the run
  std::vector<float> contributions;       ///< [T, C]; empty if not asked for
};

/// Text, or two texts, to label. It answers one call at a time; use one per thread.
class Classifier {
 public:
  /// Opens a model folder, ours or a published one. Throws `wrong_task` for a model of another
  /// task, `missing_file`, `unsupported` and what else ErrorCode has for files that cannot be read.
  static Classifier load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Classifier(std::unique_ptr<ClassifyPipeline> pipeline);
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;
  ~Classifier();

  /// In the order of the model's outputs.
  const std::vector<std::string>& labels() const;
  Compute compute() const;

  /// Throws `empty_input` for a text without tokens, `too_large`, `invalid_option` for heads,
  /// tokens or options that do not exist, `unsupported` for two texts where the model reads one,
  /// and `non_finite` where a logit is not a finite number.
  Classification classify(const TextInput& text, const ClassifyOptions& options = {});

  /// The same for several texts, in fewer and larger steps. One text's error leaves the others'
  /// results alone.
  std::vector<std::variant<Classification, Error>> classify_batch(
      std::span<const TextInput> texts, const ClassifyOptions& options = {});

 private:
  std::unique_ptr<ClassifyPipeline> pipeline_;
};

}  // namespace glassformer
