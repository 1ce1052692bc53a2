#pragma once

#include <cstddef>
#include <cstdint>
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

/// How a Classifier reads a text that has more tokens than the model takes at once.
enum class ClassifyWindow : std::uint8_t {
  first,  ///< cuts it, as the model's configuration says, and reads one window
  mean,   ///< reads all of it in windows; a label's score is the mean of its scores in the windows,
  max,    ///< or the highest of them
};

/// What may be asked of a Classifier.
struct ClassifyOptions {
  EncoderOptions encoder = {};
  ClassifyWindow window = ClassifyWindow::first;
  /// With `mean` and `max`: how many tokens of a window are read again in the next one; less than a
  /// window's. By default `usual_stride`.
  std::optional<std::size_t> stride = {};
};

/// What a text is, of T tokens; L layers with H heads read it. There are C labels.
struct Classification {
  std::string label;  ///< the one with the highest score
  float score;        ///< its score
  /// [C] of each label, in the order of Classifier::labels: probabilities that sum to 1; where
  /// several labels may be right at once, of each by itself; of a model that estimates a quantity,
  /// the logits.
  std::vector<float> scores;
  /// [C] what the scores are made of; of several windows, their mean or the highest of each label.
  std::vector<float> logits;
  std::vector<InputToken> tokens;         ///< [T] what the model read
  std::size_t windows = 1;                ///< in how many parts it read them
  bool clipped;                           ///< there was more than it read
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
  /// and `non_finite` where a logit is not a finite number. A text of several windows is
  /// `too_large` if attention, contributions, traces, patches or masks are asked for; two texts are
  /// if they do not fit into one.
  Classification classify(const TextInput& text, const ClassifyOptions& options = {});

  /// The same for several texts, in fewer and larger steps. One text's error leaves the others'
  /// results alone.
  std::vector<std::variant<Classification, Error>> classify_batch(
      const TextInputs& texts, const ClassifyOptions& options = {});

 private:
  std::unique_ptr<ClassifyPipeline> pipeline_;
};

}  // namespace glassformer
