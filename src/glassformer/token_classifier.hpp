#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class TokenClassifyPipeline;

/// How token labels are combined into entities.
enum class Aggregation : std::uint8_t {
  none,     ///< one entity per token
  simple,   ///< adjacent tokens with the same tag
  first,    ///< words with the same tag; a word has the label of its first token
  average,  ///< words; the most probable label by the mean of its tokens' probabilities
  max,      ///< words; the label of the token whose best label is the most probable
};

/// How a TokenClassifier reads a text that has more tokens than the model takes at once.
enum class TokenClassifyWindow : std::uint8_t {
  all,    ///< all of it, in windows; if entities overlap, keeps the longer or more probable
  first,  ///< truncates it, as the model's configuration says, and reads one window
};

/// Options of a TokenClassifier's calls.
struct TokenClassifyOptions {
  EncoderOptions encoder = {};
  Aggregation aggregation = Aggregation::none;
  std::vector<std::string> ignore_labels = {"O"};  ///< labels that are not entities
  TokenClassifyWindow window = TokenClassifyWindow::all;
  /// How many tokens of a window are read again in the next one; fewer than a window has. Default:
  /// `usual_stride`.
  std::optional<std::size_t> stride = {};
};

/// An entity in a text, such as the name of a person or a place.
struct Entity {
  std::string entity;        ///< the label; for combined tokens, without its prefix up to "-"
  float score;               ///< the label's probability; for combined tokens or words, their mean
  std::string word;          ///< the token; for combined tokens, their text
  std::uint32_t start, end;  ///< position in the text, in UTF-16 code units
  std::optional<std::size_t> index;  ///< position of the token, with Aggregation::none

  bool operator==(const Entity&) const = default;
};

/// The entities of a text of T tokens.
struct TokenClassification {
  std::vector<Entity> entities;           ///< in the order of the text
  std::vector<InputToken> tokens;         ///< [T] the tokens that the model read
  std::size_t windows = 1;                ///< number of windows that it read
  bool clipped;                           ///< whether the text was longer than what it read
  std::optional<AttentionMap> attention;  ///< [layers, heads, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients;    ///< of the answer, in the order of the run
};

/// Finds the entities in a text. Any number of threads may call it at a time.
class TokenClassifier {
 public:
  /// Opens a model folder. Throws the same errors as Classifier::load.
  static TokenClassifier load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit TokenClassifier(std::unique_ptr<TokenClassifyPipeline> pipeline);
  TokenClassifier(TokenClassifier&&) noexcept;
  TokenClassifier& operator=(TokenClassifier&&) noexcept;
  ~TokenClassifier();

  /// The labels, in the order of the model's outputs, such as "B-PER".
  const std::vector<std::string>& labels() const;
  Compute compute() const;

  /// Finds the entities. Throws the same errors as Classifier::classify. Throws `too_large` for a
  /// text of several windows if attention, traces, patches or masks are requested.
  TokenClassification classify(std::string_view text, const TokenClassifyOptions& options = {});

  /// Reads several texts. An error in one text does not affect the others.
  std::vector<std::variant<TokenClassification, Error>> classify_batch(
      const Texts& texts, const TokenClassifyOptions& options = {});

 private:
  std::unique_ptr<TokenClassifyPipeline> pipeline_;
};

}  // namespace glassformer
