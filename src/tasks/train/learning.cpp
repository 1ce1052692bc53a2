#include "tasks/train/learning.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/json/json_writer.hpp"
#include "families/config/config_fields.hpp"
#include "tasks/description.hpp"
#include "tasks/make_pipeline.hpp"
#include "tasks/options.hpp"
#include "tasks/train/training.hpp"
#include "text/hub/tokenizer_files.hpp"
#include "text/sentencepiece/tokenizer.hpp"

namespace glassformer {

namespace {

// Throws `wrong_task` if a model does not read such examples.
void expect_kind(const TrainingStart& start, bool pictures) {
  if (!start.known || reads_pictures(*start.known) == pictures) return;
  throw_error(ErrorCode::wrong_task,
              {"expected {}, to learn from such examples",
               {pictures ? "a classifier of pictures" : "a model that reads texts"}});
}

// Reads the options that a trainer is made with, and refuses those that are given in another way.
// Those of dictionaries have a trainer of their own, which names its lessons.
class OwnOptions {
 public:
  explicit OwnOptions(OptionsReader& reader) : reader_(reader) {}

  template <class Value>
  void operator()(const char* name, Value& option, const Option& about) {
    if (about.apart && !(dictionaries_ && belongs(name))) return;
    reader_(name, option, about);
  }

  void operator()(const char* name, std::optional<Lessons>& lessons, const Option& about) {
    reader_(name, lessons, about);
    dictionaries_ = lessons == Lessons::dictionary;
    if (lessons && !dictionaries_) refuse_option(name, "unknown field");
  }

 private:
  static bool belongs(std::string_view name) {
    constexpr std::array<std::string_view, 4> to_dictionaries = {"kind", "at", "features",
                                                                 "active"};
    return std::ranges::find(to_dictionaries, name) != to_dictionaries.end();
  }

  OptionsReader& reader_;
  bool dictionaries_ = false;
};

TrainingOptions options_of(std::string_view json, std::string_view data) {
  OptionsReader reader{TaskOptions(json)};
  OwnOptions own(reader);
  TrainingOptions options;
  fields(own, options);
  reader.finish();
  if (!options.lessons) {
    options.lessons = holds_pictures(data) ? Lessons::pictures : Lessons::classes;
  }
  options.epochs = 1;
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

class ModelLearning final : public Learning {
 public:
  void set_threads(std::size_t threads) override { threads_ = threads; }

  void take_vocabulary(ModelFiles& files, const std::string& folder) override {
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

  std::vector<NamedParameter> start_from(ModelConfig config,
                                         std::unique_ptr<const Tokenizer> tokenizer) override {
    start_.model = make_model(config.architecture);
    start_.known = std::move(config);
    start_.tokenizer = std::move(tokenizer);
    return parameters(*start_.model);
  }

  std::unique_ptr<Pipeline> begin(std::string_view config, std::string_view data,
                                  std::string_view json) override {
    TrainingOptions options = options_of(json, data);
    options.threads = threads_;
    TrainingStart start = std::exchange(start_, {});
    if (!config.empty()) start.config = config;
    const bool pictures = holds_pictures(data);
    expect_kind(start, pictures);
    dictionaries_ = options.lessons == Lessons::dictionary;
    if (dictionaries_ && start.known && start.known->task == Task::translation) {
      throw_error(ErrorCode::unsupported,
                  "dictionaries: expected a model that reads or writes one text, got a translator; "
                  "glassformer train learns those");
    }
    TrainingSetup setup = make_setup(std::move(start), data, options, pictures);
    training_ = std::make_unique<Training>(std::move(setup), data, options);
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

  std::string begun(Pipeline& pipeline) override {
    Training& of = training();
    JsonWriter json;
    json.object([&] {
      json.key("model");
      json.raw(describe_json(pipeline, of.learner().count(), {}));
      json.field("examples", of.examples());
      json.field("heldOut", of.held_out());
      json.field("stepsPerEpoch", of.steps());
      json.key("warnings");
      json.array(of.warnings(), [&](const std::string& warning) { json.value(warning); });
    });
    return json.take();
  }

  std::string step(double progress) override {
    const StepResult result = training().step(progress);
    newer_ = true;
    const TrainingProgress& reached = training().learner().progress();
    std::vector<GradientNorm> norms;
    if (!dictionaries_) norms = training().trainer().gradient_norms();
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
      json.array(norms, [&](const GradientNorm& each) {
        json.object([&] {
          json.field("name", each.name);
          json.field("norm", each.norm);
        });
      });
    });
    return json.take();
  }

  std::string evaluate(std::string_view data) override {
    return loss_json(data.empty() ? training().validate() : training().evaluate(data));
  }

  void update(Pipeline& pipeline) override {
    if (dictionaries_ || !std::exchange(newer_, false)) return;
    training().trainer().with_average([&] {
      const std::vector<NamedParameter> to = pipeline.parameters();
      const auto from = training().trainer().parameters().parts();
      for (std::size_t i = 0; i < to.size(); ++i) set_values(to[i], from[i].value, 0);
    });
  }

  std::vector<File> save() override {
    std::vector<File> files;
    if (!dictionaries_) files = vocabulary_;
    for (NewFile& file : training().files()) files.push_back(std::move(file));
    return files;
  }

 private:
  static TrainingSetup make_setup(TrainingStart start, std::string_view data,
                                  TrainingOptions& options, bool pictures) {
    if (options.lessons == Lessons::dictionary) {
      return make_training_setup(std::move(start), data, options);
    }
    TrainingSetupBuilder builder(std::move(start), options);
    return pictures ? builder.pictures(data) : builder.classes(data);
  }

  Training& training() {
    if (!training_) throw_error(ErrorCode::internal, "no training is under way");
    return *training_;
  }

  std::size_t threads_ = 1;
  TrainingStart start_;
  std::unique_ptr<const Tokenizer> tokenizer_;  // of the pipeline; null: it is trained
  std::vector<File> vocabulary_;
  std::unique_ptr<Training> training_;
  bool dictionaries_ = false;  // it learns those
  bool newer_ = false;         // than the pipeline's weights
};

}  // namespace

std::unique_ptr<Learning> make_learning() { return std::make_unique<ModelLearning>(); }

}  // namespace glassformer
