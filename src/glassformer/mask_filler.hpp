#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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

class FillPipeline;

/// Options of a MaskFiller's calls.
struct FillOptions {
  EncoderOptions encoder = {};
  std::size_t top_k = 5;  ///< number of tokens for each mask; at least 1
  /// Only these tokens are compared, and their scores sum to 1. Each must be one token. Empty: all
  /// tokens of the vocabulary.
  std::vector<std::string> targets = {};
};

/// A token that may stand at the place of a mask.
struct FilledToken {
  std::int32_t id;
  std::string token;     ///< as written in the vocabulary
  std::string text;      ///< its decoded text
  float score;           ///< its probability, from 0 to 1
  std::string sequence;  ///< the decoded text with this token; other masks are left out

  bool operator==(const FilledToken&) const = default;
};

/// One mask of a text.
struct FilledMask {
  std::size_t index;                 ///< position of its token
  std::uint32_t start, end;          ///< position in the text, in UTF-16 code units
  std::vector<FilledToken> answers;  ///< the most probable first

  bool operator==(const FilledMask&) const = default;
};

/// The tokens for the masks of a text of T tokens. Each mask is filled on its own, while the others
/// stay masked.
struct FilledText {
  std::vector<FilledMask> masks;          ///< in the order of the text
  std::vector<InputToken> tokens;         ///< [T] the tokens that the model read
  bool clipped;                           ///< whether the text was longer than what it read
  std::optional<AttentionMap> attention;  ///< [layers, heads, T, T], if requested
  std::vector<TracedTensor> trace;        ///< the requested tensors, in the order of the run
  std::vector<TracedTensor> gradients;    ///< of the answer, in the order of the run
};

/// Says which tokens may stand at the masks of a text: a masked language model (Devlin et al.
/// 2019). Any number of threads may call it at a time.
class MaskFiller {
 public:
  /// Opens a model folder. Throws the same errors as Classifier::load, and `invalid_tokenizer` if
  /// the vocabulary has no mask.
  static MaskFiller load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit MaskFiller(std::unique_ptr<FillPipeline> pipeline);
  MaskFiller(MaskFiller&&) noexcept;
  MaskFiller& operator=(MaskFiller&&) noexcept;
  ~MaskFiller();

  /// The text of a mask, "[MASK]" or "<mask>".
  std::string_view mask_token() const;
  Compute compute() const;

  /// Fills the masks of a text. Throws the same errors as Classifier::classify, and
  /// `invalid_option` for a text without a mask, or for a target that is not one token.
  FilledText fill(std::string_view text, const FillOptions& options = {});

  /// Fills the masks of several texts. An error in one text does not affect the others.
  std::vector<std::variant<FilledText, Error>> fill_batch(const Texts& texts,
                                                          const FillOptions& options = {});

 private:
  std::unique_ptr<FillPipeline> pipeline_;
};

}  // namespace glassformer
