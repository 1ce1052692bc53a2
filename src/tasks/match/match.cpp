#include "tasks/match/match.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "explain/contrast.hpp"
#include "explain/traced.hpp"
#include "tasks/make_pipeline.hpp"
#include "tasks/reading/input_reader.hpp"
#include "tasks/reading/scores.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_labels = 1 << 16;

// Embeds the texts of labels, then pictures. An error in one picture does not affect the others.
class MatchJob final : public TypedJob<ImageMatch> {
 public:
  MatchJob(MatchPipeline& pipeline, std::span<const Picture> pictures, const MatchOptions& options)
      : pipeline_(pipeline),
        labels_(pipeline, options.labels, options.hypothesis_template),
        batches_(pipeline, options.encoder),
        results_(pictures.size()) {
    if (std::ranges::count(options.encoder.mask_tokens, 0u) > 0) {
      refuse_option("mask_tokens",
                    "expected positions above 0, as the first row is the answer, got 0");
    }
    if (options.encoder.gradient_token) {
      refuse_option("gradient_token", "expected it only for a model that labels tokens");
    }
    if (!options.encoder.gradients.empty()) {
      if (labels_.names().empty()) refuse_option("gradients", "expected labels with it, got none");
      batches_.explain([this](const EncoderInput&, const ConstView& states) {
        return terms_of_states({&states(0, 0), states.shape(1)});
      });
    }
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      try {
        ReadPicture read =
            read_picture(pictures[i], pipeline.config(), options.interpolate, options.size);
        batches_.add(i, std::move(read.input));
        ImageMatch& result = results_[i].emplace<ImageMatch>();
        result.grid = std::move(read.grid);
        result.region = read.region;
      } catch (const Error& error) {
        results_[i] = error;
      }
    }
  }

  bool step() override {
    if (!results_.empty() && labels_.step()) return true;
    return batches_.step([this](std::size_t index, EncoderAnswer answer) {
      try {
        complete(std::get<ImageMatch>(results_[index]), std::move(answer));
      } catch (const Error& error) {
        results_[index] = error;
      }
    });
  }
  Results<ImageMatch> take() override { return std::move(results_); }

 private:
  std::vector<float> logits_of(std::span<const float> vector) const {
    std::vector<float> logits;
    for (const std::vector<float>& text : labels_.vectors()) {
      logits.push_back(static_cast<float>(pipeline_.dual().scale() *
                                          dot(vector.data(), text.data(), text.size())));
    }
    return logits;
  }

  // Returns the vector of a picture from its last states.
  std::vector<float> vector_of(std::span<const float> states) const {
    const std::size_t width = pipeline_.config().encoder().d_model;
    return pipeline_.model()->finish_vector({states.begin(), states.begin() + width},
                                            pipeline_.session());
  }

  void complete(ImageMatch& result, EncoderAnswer answer) const {
    result.embedding = vector_of(answer.rows);
    for (const float number : result.embedding) {
      if (!std::isfinite(number)) {
        throw_error(ErrorCode::non_finite,
                    "embedding: expected finite numbers, got others: the model's activations "
                    "exceed the range of floats");
      }
    }
    if (!labels_.names().empty()) {
      result.logits = logits_of(result.embedding);
      result.scores = result.logits;
      to_scores(Scoring::softmax, result.scores);
      const std::size_t best = largest(result.logits);
      result.label = labels_.names()[best];
      result.score = result.scores[best];
    }
    result.attention = std::move(answer.attention);
    result.trace = std::move(answer.trace);
    result.gradients = std::move(answer.gradients);
  }

  // The explained number is y = s · g · v / |v|, where v is the projected first state, and g the
  // contrast of the labels' vectors. The gradients of all tensors before the first state are those
  // of a linear y with the weights ∂y/∂state.
  AnswerTerms terms_of_states(std::span<const float> first) const {
    const VectorModules& modules = pipeline_.model()->modules();
    const std::vector<float> unit = vector_of(first);
    const std::vector<float> logits = logits_of(unit);
    const Contrast contrast = contrast_for(largest(logits), logits.size());
    std::vector<float> direction(unit.size());
    for (std::size_t label = 0; label < logits.size(); ++label) {
      for (std::size_t i = 0; i < direction.size(); ++i) {
        direction[i] += contrast.weights[label] * labels_.vectors()[label][i];
      }
    }
    const std::vector<float> weights = dense_weights(modules.dense(0));  // [P, D]
    double length = 0;
    for (std::size_t i = 0; i < unit.size(); ++i) {
      const double projected = dot(&weights[i * first.size()], first.data(), first.size());
      length += projected * projected;
    }
    length = std::sqrt(length);
    const double along = dot(direction.data(), unit.data(), unit.size());
    std::vector<float> gradient(first.size());
    for (std::size_t i = 0; i < unit.size(); ++i) {
      const auto factor =
          static_cast<float>(pipeline_.dual().scale() * (direction[i] - along * unit[i]) / length);
      for (std::size_t j = 0; j < first.size(); ++j)
        gradient[j] += factor * weights[i * first.size() + j];
    }
    AnswerTerms terms;
    for (std::size_t j = 0; j < first.size(); ++j) terms.push_back({0, j, gradient[j]});
    return terms;
  }

  void write_fields(ResultWriter& writer, ImageMatch& result) override {
    fields(writer, result, labels_.names());
  }

  MatchPipeline& pipeline_;
  MatchLabels labels_;
  EncoderPipeline::Batches batches_;
  Results<ImageMatch> results_;
};

template <class Part>
std::shared_ptr<EncoderModel> part_of(const std::shared_ptr<DualEncoder>& dual, Part part) {
  return {dual, &(dual.get()->*part)};
}

}  // namespace

MatchLabels::MatchLabels(MatchPipeline& pipeline, std::vector<std::string> names,
                         const std::string& form)
    : names_(std::move(names)) {
  constexpr std::string_view place = "{}";
  const std::size_t at = form.find(place);
  if (at == std::string::npos) {
    refuse_option("hypothesis_template",
                  {"expected a text with {} in it, got {}", {"\"{}\"", describe(form)}});
  }
  if (names_.size() > most_labels) {
    refuse_option("labels", {"expected at most {}, got {}", {most_labels, names_.size()}});
  }
  std::set<std::string_view> seen;
  std::vector<std::string> texts;
  for (const std::string& label : names_) {
    if (!seen.insert(label).second) {
      refuse_option("labels", {"expected different ones, got {} twice", {describe(label)}});
    }
    texts.push_back(std::string(form).replace(at, place.size(), label));
  }
  if (texts.empty()) return;
  job_ = pipeline.texts().begin(std::vector<TextInput>(texts.begin(), texts.end()), {});
}

bool MatchLabels::step() {
  if (!job_) return false;
  if (job_->step()) return true;
  for (const auto& each : job_->take()) {
    if (const Error* error = std::get_if<Error>(&each)) throw Error(*error);
    vectors_.push_back(std::get<Embedded>(each).embedding);
  }
  job_.reset();
  return false;
}

MatchPipeline::MatchPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                             Compute compute)
    : MatchPipeline(expect_task(config, tasks), std::move(tokenizer),
                    std::make_shared<DualEncoder>(config.architecture, compute)) {}

MatchPipeline::MatchPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                             std::shared_ptr<DualEncoder> dual)
    : EncoderPipeline(std::move(config), tasks, nullptr, part_of(dual, &DualEncoder::pictures)),
      dual_(dual),
      texts_(text_part(this->config()), std::move(tokenizer), part_of(dual, &DualEncoder::texts)) {
  check_picture_steps(this->config());
  share_sessions(texts_);
  const std::optional<std::int32_t> end = this->config().vectors.end_id;
  const TokenTemplate around = template_of(texts_.config(), *texts_.vocabulary());
  if (end && around.single.back().id != *end) {
    throw_error(ErrorCode::invalid_tokenizer,
                {"the tokenizer: expected texts to end with token {}, whose vector is that of the "
                 "text, got {}",
                 {*end, around.single.back().id}});
  }
}

std::unique_ptr<Job> MatchPipeline::begin(const TaskInputs& inputs, const TaskOptions& options) {
  const auto* texts = std::get_if<std::span<const TextInput>>(&inputs);
  if (texts && !texts->empty()) return texts_.begin(inputs, options);
  return begin(inputs_of<Picture>(inputs), read_options<MatchOptions>(options));
}

std::unique_ptr<TypedJob<ImageMatch>> MatchPipeline::begin(std::span<const Picture> pictures,
                                                           const MatchOptions& options) {
  check_ranges(options);
  return std::make_unique<MatchJob>(*this, pictures, options);
}

std::unique_ptr<Pipeline> make_match(PipelineParts& parts) {
  return std::make_unique<MatchPipeline>(std::move(parts.config), std::move(parts.tokenizer),
                                         parts.compute);
}

}  // namespace glassformer
