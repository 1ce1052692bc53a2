// The functions of the module that trains, for wasm/src/engine/engine.ts. binding.cpp loads the
// model that learns further, if it is not a new one, and answers texts with the weights of the
// moment.

#include "learning.hpp"

#include <cstdint>
#include <utility>

#include "base/error.hpp"
#include "base/json/json_writer.hpp"
#include "binding.hpp"
#include "families/config/config_fields.hpp"
#include "functions.hpp"
#include "tasks/description.hpp"
#include "tasks/options.hpp"
#include "text/hub/tokenizer_files.hpp"
#include "text/sentencepiece/tokenizer.hpp"

namespace glassformer {

namespace {

// Returns whether the examples are pictures. A program with one kind of model only tries that one.
bool learns_pictures(std::string_view data) {
  return links_pictures && (!links_texts || holds_pictures(data));
}

// Throws `wrong_task` if a model does not read such examples.
void expect_kind(const TrainingStart& start, bool pictures) {
  if (!start.known || reads_pictures(*start.known) == pictures) return;
  throw_error(ErrorCode::wrong_task,
              {"expected {}, to learn from such examples",
               {pictures ? "a classifier of pictures" : "a model that reads texts"}});
}

}  // namespace

void Learning::take_vocabulary(ModelFiles& files, const std::string& folder) {
  if (!links_texts) return;
  vocabulary_.clear();
  tokenizer_ = ModelFolder(files).take_tokenizer();
  if (!tokenizer_) return;
  for (const char* name : tokenizer_files) {
    try {
      if (const auto bytes = files.read(folder + name)) {
        vocabulary_.push_back({name, std::string(*bytes)});
      }
    } catch (const FilesWanted&) {  // the tokenizer was read without it
    }
  }
}

std::vector<NamedParameter> Learning::start_from(ModelConfig config,
                                                 std::unique_ptr<const Tokenizer> tokenizer) {
  start_.model = make_model(config.architecture);
  start_.known = std::move(config);
  start_.tokenizer = std::move(tokenizer);
  return parameters(*start_.model);
}

std::unique_ptr<Pipeline> Learning::begin(std::string_view config, std::string_view data,
                                          const TrainingOptions& options) {
  TrainingStart start = std::exchange(start_, {});
  if (!config.empty()) start.config = config;
  const bool pictures = learns_pictures(data);
  expect_kind(start, pictures);
  CurriculumBuilder builder(std::move(start), options);
  Curriculum curriculum = pictures ? builder.pictures(data) : builder.classes(data);
  training_ = std::make_unique<Training>(std::move(curriculum), data, options);
  newer_ = true;
  PipelineParts parts;
  parts.config = training_->config();
  parts.tokenizer = std::move(tokenizer_);
  if (!pictures && !parts.tokenizer) {
    parts.tokenizer = std::make_unique<SentencePieceTokenizer>(
        SentencePieceTokenizer::parse(training_->tokenizer_file()));
  }
  return make_pipeline(std::move(parts));
}

Training& Learning::training() {
  if (!training_) throw_error(ErrorCode::internal, "no training is under way");
  return *training_;
}

StepResult Learning::step(double progress) {
  const StepResult result = training().step(progress);
  newer_ = true;
  return result;
}

void Learning::update(Pipeline& pipeline) {
  if (!std::exchange(newer_, false)) return;
  training().trainer().with_average([&] {
    const std::vector<NamedParameter> to = pipeline.parameters();
    const auto from = training().trainer().parameters().parts();
    for (std::size_t i = 0; i < to.size(); ++i) set_values(to[i], from[i].value, 0);
  });
}

std::vector<Learning::File> Learning::save() {
  const auto text = [](std::span<const std::byte> bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  std::vector<File> files = vocabulary_;
  files.push_back({"config.json", training().config_file()});
  if (std::string steps = training().picture_steps_file(); !steps.empty()) {
    files.push_back({picture_steps_name, std::move(steps)});
  }
  files.push_back({"model.safetensors", text(training().weights_file())});
  if (const auto file = training().tokenizer_file(); !file.empty()) {
    files.push_back({"tokenizer.model", text(file)});
  }
  return files;
}

namespace {

TrainingOptions options_of(std::string_view json, std::string_view data) {
  TrainingOptions options = read_options<TrainingOptions>(TaskOptions(json));
  options.lessons = learns_pictures(data) ? Lessons::pictures : Lessons::classes;
  options.epochs = 1;
  const auto expect = [](const char* name, std::optional<float> value, float least, float most) {
    if (value) expect_between(name, least, most, *value);
  };
  expect("rate", options.rate, 0, 1);
  expect("warmUp", options.warm_up, 0, 1);
  expect("weightDecay", options.weight_decay, 0, 1);
  expect("dropout", options.dropout, 0, 0.9f);
  expect("smoothing", options.smoothing, 0, 0.9f);
  expect("averaging", options.averaging, 0, 1);
  expect("droppedTokens", options.dropped_tokens, 0, 0.9f);
  expect("distortion", options.distortion, 0, 4);
  expect("heldOut", options.held_out, 0, 0.9f);
  return options;
}

std::string loss_json(const LossSum& sum) {
  JsonWriter json;
  json.object([&] {
    json.field("loss", static_cast<float>(sum.mean()));
    json.field("accuracy", static_cast<float>(sum.accuracy()));
    json.field("count", sum.count);
  });
  return json.take();
}

}  // namespace

extern "C" {

// Starts a training: of the model that was loaded or, if `config` is not empty, of a new one with
// these fields of config.json. `data` has LABEL<TAB>TEXT lines or, in the binary for pictures,
// these and their labels (see picture_data.hpp); `options` is JSON with the options of
// training_options.hpp. Answers {"model": a description, "examples", "heldOut": numbers of
// examples, "stepsPerEpoch"}.
GLASSFORMER_EXPORT int gf_learn_begin(const char* config, std::size_t config_size, const char* data,
                                      std::size_t data_size, const char* options,
                                      std::size_t options_size) {
  return answer([&] {
    Learning& learning = instance().learning;
    instance().weights.clear();
    const std::string_view examples(data, data_size);
    TrainingOptions read = options_of({options, options_size}, examples);
    read.threads = learning.threads;
    instance().pipeline = learning.begin({config, config_size}, examples, read);
    Training& training = learning.training();
    const std::size_t parameters = training.trainer().parameters().count();
    JsonWriter json;
    json.object([&] {
      json.key("model");
      json.raw(describe_json(*instance().pipeline, parameters, {}));
      json.field("examples", training.examples());
      json.field("heldOut", training.held_out());
      json.field("stepsPerEpoch", training.steps());
    });
    return json.take();
  });
}

// Learns from the next examples. `progress`: how much of the training is over with this step, from
// 0 to 1. Answers {"step", "epoch", "tokens", "loss", "accuracy", "rate", "gradientNorm",
// "gradientNorms": [{"name", "norm"}]}: "tokens" of this step.
GLASSFORMER_EXPORT int gf_learn_step(double progress) {
  return answer([&] {
    const StepResult result = instance().learning.step(progress);
    Trainer& trainer = instance().learning.training().trainer();
    const TrainingProgress& reached = trainer.progress();
    JsonWriter json;
    json.object([&] {
      json.field("step", reached.step);
      json.field("epoch", reached.epoch);
      json.field("tokens", result.tokens);
      json.field("loss", static_cast<float>(result.loss.mean()));
      json.field("accuracy", static_cast<float>(result.loss.accuracy()));
      json.field("rate", result.rate);
      json.field("gradientNorm", result.gradient_norm);
      json.key("gradientNorms");
      json.array(trainer.gradient_norms(), [&](const GradientNorm& each) {
        json.object([&] {
          json.field("name", each.name);
          json.field("norm", each.norm);
        });
      });
    });
    return json.take();
  });
}

// Answers {"loss", "accuracy", "count"} on other examples, in the same form; if there are none, on
// those that are held out.
GLASSFORMER_EXPORT int gf_learn_evaluate(const char* data, std::size_t size) {
  return answer([&] {
    Training& training = instance().learning.training();
    return loss_json(size > 0 ? training.evaluate({data, size}) : training.validate());
  });
}

// Answers [{"name", "size"}]: the files of a folder with the model. gf_learn_file returns their
// bytes, until the next call of this.
GLASSFORMER_EXPORT int gf_learn_save() {
  return answer([] {
    instance().learning.saved = instance().learning.save();
    JsonWriter json;
    json.array(instance().learning.saved, [&](const Learning::File& file) {
      json.object([&] {
        json.field("name", file.name);
        json.field("size", file.bytes.size());
      });
    });
    return json.take();
  });
}

GLASSFORMER_EXPORT const char* gf_learn_file(std::size_t index) {
  return instance().learning.saved[index].bytes.data();
}

}  // extern "C"

}  // namespace glassformer
