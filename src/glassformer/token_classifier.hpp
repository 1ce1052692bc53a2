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

/// How the labels of tokens become entities.
enum class Aggregation : std::uint8_t {
  none,     ///< a token each
  simple,   ///< tokens next to each other with one tag
  first,    ///< words with one tag; a word has the label of its first token,
  average,  ///< the most probable label by the mean of its tokens' probabilities,
  max,      ///< or the label of the token whose best label is the most probable
};

/// How a TokenClassifier reads a text that has more tokens than the model takes at once.
enum class TokenClassifyWindow : std::uint8_t {
  all,  ///< all of it, in windows; of entities that overlap, the longer one stays, or the surer one
  first,  ///< cuts it, as the model's configuration says, and reads one window
};

/// What may be asked of a TokenClassifier.
struct TokenClassifyOptions {
  EncoderOptions encoder = {};
  Aggregation aggregation = Aggregation::none;
  std::vector<std::string> ignore_labels = {"O"};  ///< labels that make no entity
  TokenClassifyWindow window = TokenClassifyWindow::all;
  /// How many tokens of a window are read again in the next one; less than a window's. By default
  /// `usual_stride`.
  std::optional<std::size_t> stride = {};
};

/// A name in a text, of a person, a place or the like.
struct Entity {
  std::string entity;        ///< the label; of aggregated tokens, what follows the first "-" in it
  float score;               ///< the label's probability; of aggregated tokens or words, their mean
  std::string word;          ///< the piece; of aggregated tokens, their text
  std::uint32_t start, end;  ///< its place in the text, in UTF-16 code units
  std::optional<std::size_t> index;  ///< position of the token, with Aggregation::none

  bool operator==(const Entity&) const = default;
};

/// What is in a text of T tokens.
struct TokenClassification {
  std::vector<Entity> entities;           ///< in the order of the text
  std::vector<InputToken> tokens;         ///< [T] what the model read
  std::size_t windows = 1;                ///< in how many parts it read them
  bool clipped;                           ///< there was more than it read
  std::optional<AttentionMap> attention;  ///< [layers, heads, T, T], if asked for
  std::vector<TracedTensor> trace;        ///< what was asked for, in the order of the run
};

/// Text to the entities in it. It answers one call at a time; use one per thread.
class TokenClassifier {
 public:
  /// Opens a model folder. Throws what Classifier::load does.
  static TokenClassifier load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit TokenClassifier(std::unique_ptr<TokenClassifyPipeline> pipeline);
  TokenClassifier(TokenClassifier&&) noexcept;
  TokenClassifier& operator=(TokenClassifier&&) noexcept;
  ~TokenClassifier();

  /// In the order of the model's outputs, such as "B-PER".
  const std::vector<std::string>& labels() const;
  Compute compute() const;

  /// Throws what Classifier::classify does. A text of several windows is `too_large` if attention,
  /// traces, patches or masks are asked for.
  TokenClassification classify(std::string_view text, const TokenClassifyOptions& options = {});

  /// The same for several texts. One text's error leaves the others' results alone.
  std::vector<std::variant<TokenClassification, Error>> classify_batch(
      const Texts& texts, const TokenClassifyOptions& options = {});

 private:
  std::unique_ptr<TokenClassifyPipeline> pipeline_;
};

}  // namespace glassformer
