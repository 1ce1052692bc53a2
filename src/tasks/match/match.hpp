#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/tasks/match.hpp"
#include "models/dual_encoder.hpp"
#include "tasks/embed/embed.hpp"
#include "tasks/image/image.hpp"

namespace glassformer {

/// Compares pictures with texts. It is the pipeline of the part that reads pictures.
class MatchPipeline final : public EncoderPipeline {
 public:
  using Typed = ImageMatch;
  using Options = MatchOptions;
  static constexpr std::array tasks = {Task::zero_shot_image_classification};

  /// Throws `wrong_task` unless the configuration describes a dual encoder, `invalid_config` if the
  /// steps of pictures do not fit the model's channels, `invalid_tokenizer` if texts do not end
  /// with the token that is pooled, and the errors of InputReader.
  MatchPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                Compute compute = Compute::f32);

  std::vector<NamedParameter> parameters() override { return dual_->parameters(); }
  const Tokenizer* vocabulary() const override { return texts_.vocabulary(); }

  /// Compares pictures with the options' labels, or embeds pictures or texts.
  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;
  std::unique_ptr<TypedJob<ImageMatch>> begin(std::span<const Picture> pictures,
                                              const MatchOptions& options);

  EmbedPipeline& texts() { return texts_; }
  const DualEncoder& dual() const { return *dual_; }

 private:
  MatchPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                std::shared_ptr<DualEncoder> dual);

  std::shared_ptr<DualEncoder> dual_;
  EmbedPipeline texts_;
};

/// The labels of a request, and the vectors of their texts.
class MatchLabels {
 public:
  /// Throws `invalid_option` for a template without "{}", for equal labels and for too many.
  MatchLabels(MatchPipeline& pipeline, std::vector<std::string> names, const std::string& form);

  /// Embeds the next texts. Returns whether any are left. Throws the error of a text.
  bool step();

  const std::vector<std::string>& names() const { return names_; }
  /// Returns the vectors [C][P], each of length 1, after the last step.
  const std::vector<std::vector<float>>& vectors() const { return vectors_; }

 private:
  std::vector<std::string> names_;
  std::unique_ptr<TypedJob<Embedded>> job_;  // until the texts are embedded
  std::vector<std::vector<float>> vectors_;
};

}  // namespace glassformer
