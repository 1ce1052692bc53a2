#include "tasks/train/training.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "models/initialize.hpp"
#include "tasks/reading/input_reader.hpp"
#include "tasks/train/new_model.hpp"
#include "tasks/train/training_data.hpp"
#include "text/sentencepiece/tokenizer.hpp"
#include "text/training/unigram_trainer.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_held_out = 2000;
constexpr float usual_held_out = 0.05f;
constexpr std::size_t usual_epochs = 10;
constexpr std::size_t least_batch = 1024, most_batch = 8192;  // tokens
constexpr std::size_t least_shard = 256, most_shard = 1024;   // tokens
constexpr std::size_t usual_steps = 100;                      // per epoch
constexpr float new_rate = 2e-3f, old_rate = 2e-4f;

// Examples in a random order, so that those that are held out are of all kinds.
void mix(std::vector<Example>& examples, std::uint64_t seed) {
  SplitMix64 random(seed);
  for (std::size_t i = examples.size(); i > 1; --i) {
    std::swap(examples[i - 1], examples[static_cast<std::size_t>(random.next() % i)]);
  }
}

// Says in which line an error occurred.
template <class Work>
auto in_line(std::size_t number, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.code(), "line " + std::to_string(number) + ": " + error.what());
  }
}

}  // namespace

Training::Training(TrainingStart start, std::string_view data, const TrainingOptions& options)
    : options_(options) {
  read_labelled(std::move(start), data);
  choose_options();
  trainer_ = std::make_unique<Trainer>(
      model_, parameters(model_), *objective_, examples_,
      TrainerOptions{.batch_tokens = *options_.batch_tokens,
                     .shard_tokens = *options_.shard_tokens,
                     .threads = options_.threads,
                     .seed = options_.seed,
                     .fingerprint = fingerprint(data),
                     .dropout = options_.dropout,
                     .smoothing = options_.smoothing,
                     .averaging = options_.averaging,
                     .schedule = {*options_.rate, options_.warm_up, options_.decay},
                     .optimizer = {.kind = *options_.optimizer, .decay = options_.weight_decay}});
}

void Training::read_labelled(TrainingStart start, std::string_view data) {
  const std::vector<DataLine> lines = read_data(data, DataForm::labelled);
  const std::vector<std::string> labels = labels_of(lines);
  tokenizer_ = std::move(start.tokenizer);
  if (!tokenizer_) {
    std::vector<std::string_view> texts;
    for (const DataLine& line : lines) texts.push_back(line.text);
    tokenizer_file_ =
        train_unigram(texts, {.vocab_size = options_.vocabulary.value_or(
                                  std::clamp<std::size_t>(data.size() / 150, 1000, 8000)),
                              .lower_case = options_.lower_case});
    tokenizer_ =
        std::make_unique<SentencePieceTokenizer>(SentencePieceTokenizer::parse(tokenizer_file_));
  }
  if (start.known) {
    fresh_ = false;
    config_ = start.known->labels == labels ? std::move(*start.known)
                                            : with_labels(std::move(*start.known), labels);
    model_ = make_model(config_.architecture);
    copy_parameters(*start.model, model_, options_.seed);
  } else {
    config_ =
        parse_config(complete_config(start.config, Lessons::classes, labels, tokenizer_->size()));
    model_ = make_model(config_.architecture);
    initialize(parameters(model_), options_.seed);
  }

  const InputReader reader(config_, *tokenizer_);
  const auto& around = reader.around().single;
  const auto text = std::ranges::find(around, TemplatePart::Kind::first_text, &TemplatePart::kind);
  objective_ = std::make_unique<ClassObjective>(options_.dropped_tokens,
                                                static_cast<std::size_t>(text - around.begin()),
                                                static_cast<std::size_t>(around.end() - text - 1));
  hold_out(read_examples(lines));
}

std::vector<Example> Training::read_examples(const std::vector<DataLine>& lines) const {
  const InputReader reader(config_, *tokenizer_);
  std::vector<Example> examples;
  for (const DataLine& line : lines) {
    const auto label = std::ranges::find(config_.labels, line.second);
    if (label == config_.labels.end()) {
      throw_error(ErrorCode::invalid_data,
                  {"line {}: expected a label of the model, got {}",
                   {line.number, describe(line.second)}});
    }
    const EncoderInput input = in_line(line.number, [&] { return reader.read(line.text); });
    Example& example = examples.emplace_back();
    for (const Token& token : input.tokens) example.ids.push_back(token.id);
    example.types = input.types;
    example.label = static_cast<std::int32_t>(label - config_.labels.begin());
  }
  return examples;
}

LossSum Training::evaluate(std::string_view data) {
  return trainer_->evaluate(read_examples(read_data(data, DataForm::labelled)));
}

// A hash of the data and of what changes the course of a training (FNV-1a, 64 bits).
std::uint64_t Training::fingerprint(std::string_view data) const {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](std::string_view bytes) {
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  };
  add(data);
  add(to_json(config_));
  for (const std::uint64_t number :
       {options_.seed, std::uint64_t{*options_.batch_tokens}, std::uint64_t{*options_.shard_tokens},
        std::uint64_t{examples_.size()}}) {
    add(std::to_string(number) + ",");
  }
  return hash;
}

void Training::hold_out(std::vector<Example> examples) {
  mix(examples, options_.seed);
  const float share = options_.held_out.value_or(usual_held_out);
  auto count = static_cast<std::size_t>(share * static_cast<float>(examples.size()));
  if (!options_.held_out) count = std::min(count, most_held_out);
  held_out_.assign(examples.end() - static_cast<std::ptrdiff_t>(count), examples.end());
  examples.resize(examples.size() - count);
  examples_ = std::move(examples);
  if (examples_.empty()) {
    throw_error(ErrorCode::invalid_data, "expected examples to learn from, got none");
  }
}

void Training::choose_options() {
  std::size_t tokens = 0;
  for (const Example& example : examples_) tokens += example.tokens();
  if (!options_.batch_tokens) {
    options_.batch_tokens = std::clamp(tokens / usual_steps, least_batch, most_batch);
  }
  if (!options_.shard_tokens) {  // several, for several threads
    options_.shard_tokens = std::clamp(*options_.batch_tokens / 4, least_shard, most_shard);
  }
  if (!options_.rate) options_.rate = fresh_ ? new_rate : old_rate;
  if (!options_.optimizer) options_.optimizer = OptimizerKind::adamw;
  const std::size_t epochs = options_.epochs.value_or(usual_epochs);
  // A step reads whole examples until it has enough tokens, so an epoch has fewer steps than this.
  const double per_example = static_cast<double>(tokens) / static_cast<double>(examples_.size());
  const double step_tokens = static_cast<double>(*options_.batch_tokens) + per_example / 2;
  const double per_epoch = std::ceil(static_cast<double>(tokens) / step_tokens);
  steps_ = std::max<std::uint64_t>(static_cast<std::uint64_t>(per_epoch) * epochs, 1);
}

}  // namespace glassformer
