#include "tasks/train/training.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <list>

#include "base/error.hpp"
#include "base/shuffle.hpp"
#include "families/published_pictures.hpp"
#include "models/dictionary/dictionary_files.hpp"
#include "tasks/train/dictionary_setup.hpp"
#include "weights/floats.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_held_out = 2000;
constexpr float usual_held_out = 0.05f;
constexpr std::size_t usual_epochs = 10;
constexpr std::size_t least_batch = 1024, most_batch = 8192;  // tokens
constexpr std::size_t least_shard = 256, most_shard = 1024;   // tokens
constexpr std::size_t usual_steps = 100;                      // per epoch
constexpr float new_rate = 2e-3f, old_rate = 2e-4f;
constexpr std::uint64_t usual_dead_after = 1'000'000;  // tokens

bool learns_dictionaries(const TrainingOptions& options) {
  return options.lessons == Lessons::dictionary;
}

std::string text_of(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// A step may have made them infinite or NaN without an infinite loss: the last one of all.
void expect_finite_weights(const std::string& name, std::span<const float> values) {
  if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return;
  throw_error(ErrorCode::invalid_weights,
              {"{}: expected finite numbers after the last step, got others; learn with a lower "
               "rate",
               {name}});
}

}  // namespace

Training::Training(TrainingStart start, std::string_view data, TrainingOptions options)
    : Training(make_training_setup(std::move(start), data, options), data, options) {}

Training::Training(TrainingSetup setup, std::string_view data, const TrainingOptions& options)
    : options_(options), learned_(std::move(setup)) {
  hold_out();
  choose_options();
  const Schedule schedule = {*options_.rate, options_.warm_up, options_.decay};
  if (learns_dictionaries(options_)) {
    if (options_.processes && options_.processes->count() > 1) {
      throw_error(ErrorCode::unsupported,
                  {"dictionaries: expected one process to learn them, got {}",
                   {options_.processes->count()}});
    }
    dictionaries_ =
        dictionary_configs(learned_.config.architecture, parameters(learned_.model), options_);
    learner_ = std::make_unique<DictionaryTrainer>(
        learned_.model, *learned_.objective, dictionaries_, learned_.examples,
        DictionaryTrainerOptions{
            .batch_tokens = *options_.batch_tokens,
            .shard_tokens = *options_.shard_tokens,
            .threads = options_.threads,
            .seed = options_.seed,
            .fingerprint = fingerprint(data),
            .schedule = schedule,
            .dead_after = std::min(usual_dead_after, tokens() * *options_.epochs / 10)});
    return;
  }
  learner_ = std::make_unique<Trainer>(
      learned_.model, parameters(learned_.model), *learned_.objective, learned_.examples,
      TrainerOptions{.batch_tokens = *options_.batch_tokens,
                     .shard_tokens = *options_.shard_tokens,
                     .threads = options_.threads,
                     .seed = options_.seed,
                     .fingerprint = fingerprint(data),
                     .dropout = options_.dropout,
                     .smoothing = options_.smoothing,
                     .averaging = options_.averaging,
                     .schedule = schedule,
                     .optimizer = {.kind = *options_.optimizer, .decay = options_.weight_decay},
                     .processes = options_.processes});
}

Trainer& Training::trainer() {
  if (learns_dictionaries(options_)) throw_error(ErrorCode::internal, "no model learns");
  return static_cast<Trainer&>(*learner_);
}

LossSum Training::evaluate(std::string_view data) {
  if (reads_pictures(config())) {
    return trainer().evaluate(read_labelled(read_pictures(data), config()));
  }
  return trainer().evaluate(
      read_labelled(read_data(data, DataForm::labelled), config(), tokenizer()).examples);
}

// A hash of the data and of what changes the course of a training (FNV-1a, 64 bits).
std::uint64_t Training::fingerprint(std::string_view data) const {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](std::string_view bytes) {
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  };
  add(data);
  add(to_json(learned_.config));
  add({reinterpret_cast<const char*>(tokenizer_file().data()), tokenizer_file().size()});
  for (const auto& language : {options_.from, options_.to}) add(language.value_or("") + ",");
  for (const std::uint64_t number :
       {options_.seed, std::uint64_t{*options_.batch_tokens}, std::uint64_t{*options_.shard_tokens},
        std::uint64_t{learned_.examples.size()}}) {
    add(std::to_string(number) + ",");
  }
  for (const DictionaryConfig& each : dictionaries_) {
    add(each.reads + "," + each.writes + ",");
    for (const std::size_t number : {each.features, each.active}) {
      add(std::to_string(number) + ",");
    }
  }
  return hash;
}

void Training::hold_out() {
  std::vector<Example>& examples = learned_.examples;
  shuffle(examples, SplitMix64(options_.seed));  // so that those held out are of all kinds
  const float share = options_.held_out.value_or(usual_held_out);
  auto count = static_cast<std::size_t>(share * static_cast<float>(examples.size()));
  if (!options_.held_out) count = std::min(count, most_held_out);
  held_out_.assign(std::make_move_iterator(examples.end() - static_cast<std::ptrdiff_t>(count)),
                   std::make_move_iterator(examples.end()));
  examples.resize(examples.size() - count);
  if (examples.empty()) {
    throw_error(ErrorCode::invalid_data, "expected examples to learn from, got none");
  }
  if (learns_dictionaries(options_) && held_out_.empty()) {
    throw_error(ErrorCode::invalid_data,
                {"expected examples to measure dictionaries on, got none that are held out of {}",
                 {examples.size()}});
  }
}

std::uint64_t Training::tokens() const {
  std::uint64_t tokens = 0;
  for (const Example& example : learned_.examples) tokens += example.tokens();
  return tokens;
}

void Training::choose_options() {
  const std::size_t tokens = static_cast<std::size_t>(this->tokens());
  if (!options_.batch_tokens) {
    options_.batch_tokens = std::clamp(tokens / usual_steps, least_batch, most_batch);
  }
  if (!options_.shard_tokens) {  // several, for several threads
    options_.shard_tokens = std::clamp(*options_.batch_tokens / 4, least_shard, most_shard);
  }
  if (!options_.rate) {
    options_.rate = learned_.fresh || learns_dictionaries(options_) ? new_rate : old_rate;
  }
  if (!options_.optimizer) options_.optimizer = OptimizerKind::adamw;
  if (!options_.epochs) options_.epochs = usual_epochs;
  // A step reads whole examples until it has enough tokens, so an epoch has fewer steps than this.
  const double per_example =
      static_cast<double>(tokens) / static_cast<double>(learned_.examples.size());
  const double step_tokens = static_cast<double>(*options_.batch_tokens) + per_example / 2;
  const double per_epoch = std::ceil(static_cast<double>(tokens) / step_tokens);
  steps_ = std::max<std::uint64_t>(static_cast<std::uint64_t>(per_epoch) * *options_.epochs, 1);
}

std::vector<NewFile> Training::files(DType dtype, std::span<const Example> quoted) {
  if (learns_dictionaries(options_)) {
    return dictionary_files(quoted.empty() ? std::span<const Example>(held_out_) : quoted);
  }
  const bool pictures = reads_pictures(config());
  std::vector<NewFile> files = {
      {"config.json", pictures ? published_config(config()) : to_json(config())}};
  if (pictures) files.push_back({picture_steps_name, to_json(config().pictures)});
  files.push_back({"model.safetensors", text_of(weights_file(dtype))});
  if (!tokenizer_file().empty()) files.push_back({"tokenizer.model", text_of(tokenizer_file())});
  return files;
}

std::vector<NewFile> Training::dictionary_files(std::span<const Example> quoted) {
  const auto learned = static_cast<DictionaryTrainer&>(*learner_).dictionaries();
  const std::vector<NamedParameter> model = parameters(learned_.model);
  for (std::size_t i = 0; i < learned->size(); ++i) {
    const std::vector<float> marks = marks_of(model, (*learned)[i].config().writes);
    if (!marks.empty()) set_values((*learned)[i].parameters().back(), marks, 0);
  }
  const std::string config = dictionary_config(*learned);
  const std::vector<std::byte> weights = dictionary_weights(*learned);
  // Measures what the files hold.
  const auto stored = read_dictionaries(config, weights, model);
  Pool pool;
  pool.resize(options_.threads);
  report_ = report_on(learned_.model, *learned_.objective, *stored, held_out_, quoted, pool);
  const Tokenizer* tokenizer = learned_.tokenizer.get();
  if (learned_.target_tokenizer && dictionaries_[0].in_decoder()) {
    tokenizer = learned_.target_tokenizer.get();
  }
  std::vector<NewFile> files = {{"config.json", config}, {"model.safetensors", text_of(weights)}};
  for (NewFile& file : report_files(report_, *stored, learned_.model, tokenizer)) {
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<std::byte> Training::weights_file(DType dtype) {
  std::vector<NamedParameter> in_file = parameters(make_model(config().architecture));
  std::vector<std::string> ours;
  for (const NamedParameter& parameter : in_file) ours.push_back(parameter.name);
  if (reads_pictures(config())) in_file = in_published_names(std::move(in_file), config());
  std::vector<std::byte> file;
  trainer().with_average([&] {
    std::vector<NamedTensor> tensors;
    std::list<std::vector<std::byte>> converted;
    for (const LearnedParameters::Part& part : trainer().parameters().parts()) {
      const auto found = std::ranges::find(ours, part.name);
      if (found == ours.end()) continue;
      expect_finite_weights(part.name, part.value);
      const NamedParameter& as = in_file[static_cast<std::size_t>(found - ours.begin())];
      tensors.push_back(
          {as.name, dtype, as.shape, from_f32(dtype, part.value, converted.emplace_back())});
    }
    file = write_safetensors(tensors);
  });
  return file;
}

}  // namespace glassformer
