#include "tasks/image/image.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/heap_sort.hpp"
#include "tasks/make_pipeline.hpp"
#include "tasks/reading/scores.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_rows = 1 << 14;  // of a picture that is larger than the model's

const PatchInput& input_of(const ModelConfig& config) {
  return std::get<PatchInput>(config.encoder().input);
}

AnswerTerms explained_label(const EncoderInput&, const ConstView& logits) {
  const std::span<const float> row(logits.data(), logits.shape(1));
  return terms_of(contrast_for(largest(row), row.size()), 0);
}

// Runs pictures. An error in one does not affect the others.
class ImageJob final : public TypedJob<ImageClassification> {
 public:
  ImageJob(ImagePipeline& pipeline, std::span<const Picture> pictures, const ImageOptions& options)
      : pipeline_(pipeline),
        top_k_(options.top_k.value_or(0)),
        batches_(pipeline, options.encoder),
        results_(pictures.size()) {
    if (options.encoder.gradient_token) {
      refuse_option("gradient_token", "expected it only for a model that labels tokens");
    }
    if (!options.encoder.gradients.empty()) {
      batches_.explain(explained_label);
    }
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      try {
        ReadPicture read = pipeline.read(pictures[i], options);
        batches_.add(i, std::move(read.input));
        ImageClassification& result = results_[i].emplace<ImageClassification>();
        result.grid = std::move(read.grid);
        result.region = read.region;
      } catch (const Error& error) {
        results_[i] = error;
      }
    }
  }

  bool step() override {
    return batches_.step([this](std::size_t index, EncoderAnswer answer) {
      try {
        complete(std::get<ImageClassification>(results_[index]), std::move(answer));
      } catch (const Error& error) {
        results_[index] = error;
      }
    });
  }
  Results<ImageClassification> take() override { return std::move(results_); }

 private:
  void complete(ImageClassification& result, EncoderAnswer answer) const {
    const ModelConfig& config = pipeline_.config();
    result.logits = std::move(answer.rows);
    result.scores = result.logits;
    to_scores(config.scoring, result.scores);
    // The logits decide: scores may be equal even if logits are not.
    const std::size_t best = largest(result.logits);
    result.label = config.labels[best];
    result.score = result.scores[best];
    if (top_k_ > 0) {
      result.best = sorted_order(result.logits.size(), [&](std::size_t a, std::size_t b) {
        return result.logits[a] > result.logits[b];
      });
      result.best.resize(std::min(top_k_, result.best.size()));
    }
    result.attention = std::move(answer.attention);
    result.trace = std::move(answer.trace);
    result.gradients = std::move(answer.gradients);
    result.contributions = std::move(answer.contributions);
  }
  void write_fields(ResultWriter& writer, ImageClassification& result) override {
    fields(writer, result, pipeline_.config().labels);
  }

  ImagePipeline& pipeline_;
  std::size_t top_k_;  // 0: all labels
  EncoderPipeline::Batches batches_;
  Results<ImageClassification> results_;
};

}  // namespace

ImagePipeline::ImagePipeline(ModelConfig config, Compute compute)
    : EncoderPipeline(std::move(config), tasks, nullptr, compute) {
  check_picture_steps(this->config());
}

void check_picture_steps(const ModelConfig& config) {
  const std::size_t channels = input_of(config).channels;
  const PictureSteps& steps = config.pictures;
  for (const std::vector<float>* numbers : {&steps.mean, &steps.deviation}) {
    if (numbers->size() == 1 || numbers->size() == channels) continue;
    throw_error(ErrorCode::invalid_config,
                {"{}: {}: expected {} numbers, one per channel of the model, got {}",
                 {picture_steps_name, numbers == &steps.mean ? "image_mean" : "image_std", channels,
                  numbers->size()}});
  }
}

std::unique_ptr<Job> ImagePipeline::begin(const TaskInputs& inputs, const TaskOptions& options) {
  return begin(inputs_of<Picture>(inputs), read_options<ImageOptions>(options));
}

std::unique_ptr<TypedJob<ImageClassification>> ImagePipeline::begin(
    std::span<const Picture> pictures, const ImageOptions& options) {
  check_ranges(options);
  return std::make_unique<ImageJob>(*this, pictures, options);
}

ImageClassification ImagePipeline::classify(const Picture& picture, const ImageOptions& options) {
  return only(classify_batch(std::span(&picture, 1), options));
}

Results<ImageClassification> ImagePipeline::classify_batch(std::span<const Picture> pictures,
                                                           const ImageOptions& options) {
  return run_all(*begin(pictures, options));
}

ReadPicture read_picture(const Picture& picture, const ModelConfig& config, bool interpolate,
                         std::optional<std::array<std::size_t, 2>> size) {
  const PatchInput& input = input_of(config);
  PictureSteps steps = config.pictures;
  if (size) {
    const auto [height, width] = *size;
    if (height == 0 || width == 0) refuse_option("size", "expected numbers above 0, got 0");
    steps.resizes = true;
    steps.crops = false;
    steps.shortest_edge.reset();
    steps.size = {height, width};
  }
  PreparedPicture prepared = prepare(picture, steps, input.channels);
  const std::size_t height = prepared.height, width = prepared.width;
  if (!interpolate && (height != input.height || width != input.width)) {
    throw_error(ErrorCode::invalid_option,
                {"picture: expected {} x {} pixels after its preparation, the model's height and "
                 "width, got {} x {}; set interpolate to have the model read another size",
                 {input.height, input.width, height, width}});
  }
  ReadPicture read;
  read.grid.rows = height / input.patch_height;
  read.grid.columns = width / input.patch_width;
  if (read.grid.rows == 0 || read.grid.columns == 0) {
    throw_error(ErrorCode::invalid_option,
                {"picture: expected at least one patch of {} x {} pixels, got a picture of {} x {}",
                 {input.patch_height, input.patch_width, height, width}});
  }
  if (input.class_token) read.grid.special.push_back("[CLS]");
  if (input.distillation_token) read.grid.special.push_back("[DIST]");
  const std::size_t rows = read.grid.tokens();
  if (rows > std::max(most_rows, input.rows())) {
    throw_error(ErrorCode::too_large,
                {"picture: expected at most {} patches, got {}", {most_rows, rows}});
  }
  // Pixels at the right and at the bottom may be too few for a patch.
  const auto share = [](std::size_t patches, std::size_t patch, std::size_t side) {
    return static_cast<float>(patches * patch) / static_cast<float>(side);
  };
  read.region = prepared.region;
  read.region.width *= share(read.grid.columns, input.patch_width, width);
  read.region.height *= share(read.grid.rows, input.patch_height, height);
  read.input.tokens.resize(rows);
  read.input.kinds.assign(rows, TemplatePart::Kind::first_text);
  std::fill_n(read.input.kinds.begin(), read.grid.special.size(), TemplatePart::Kind::special);
  read.input.pixels = {std::move(prepared.values), height, width};
  return read;
}

std::unique_ptr<Pipeline> make_image(PipelineParts& parts) {
  return std::make_unique<ImagePipeline>(std::move(parts.config), parts.compute);
}

}  // namespace glassformer
