#pragma once

#include <array>
#include <memory>
#include <span>

#include "glassformer/zero_shot_image_classifier.hpp"
#include "models/dual_encoder.hpp"
#include "tasks/embed/embed.hpp"
#include "tasks/image/image.hpp"

namespace glassformer {

template <class Visit>
void fields(Visit& visit, MatchOptions& options) {
  fields(visit, options.encoder);
  visit("labels", options.labels);
  visit("hypothesisTemplate", options.hypothesis_template);
  visit("interpolate", options.interpolate);
  visit("size", options.size, "a height and a width");
}

template <class Visit>
void fields(Visit& visit, ImageMatch& result, std::span<const std::string> labels) {
  if (!labels.empty()) {
    visit("label", result.label);
    visit("score", result.score);
    visit.by_label("scores", labels, result.scores);
    visit.by_label("logits", labels, result.logits);
  }
  visit.vector("embedding", std::move(result.embedding));
  visit("grid", result.grid);
  visit("region", result.region);
  visit.attention({.encoder = &result.attention});
  visit.trace(std::move(result.trace));
  if (links_named_gradients) visit.gradients(std::move(result.gradients));
}

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
  float scale() const { return dual_->scale(); }

 private:
  MatchPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                std::shared_ptr<DualEncoder> dual);

  std::shared_ptr<DualEncoder> dual_;
  EmbedPipeline texts_;
};

}  // namespace glassformer
