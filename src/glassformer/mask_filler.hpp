#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/fill.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "glassformer/steering.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class FillPipeline;

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

  /// Returns the mean vector of one list of texts minus that of another (Rimsky et al. 2024).
  /// Throws `invalid_option` for a list without texts and for a tensor without a vector per token.
  SteeringVector steering_vector(const SteeringRequest& request, const Texts& toward,
                                 const Texts& away);

 private:
  std::unique_ptr<FillPipeline> pipeline_;
};

}  // namespace glassformer
