#include "tasks/train/training_setup.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "families/published_pictures.hpp"
#include "models/initialize.hpp"
#include "tasks/options.hpp"
#include "tasks/reading/input_reader.hpp"
#include "tasks/reading/mask_token.hpp"
#include "tasks/reading/token_checks.hpp"
#include "tasks/train/new_model.hpp"
#include "tasks/translate/languages.hpp"
#include "tasks/translate/source_reader.hpp"
#include "text/sentencepiece/tokenizer.hpp"
#include "text/training/unigram_trainer.hpp"

namespace glassformer {
namespace {

constexpr std::size_t least_vocabulary = 1000, most_vocabulary = 8000;
constexpr std::size_t bytes_per_piece = 150;  // of the data, for a piece more

// Calls work(). Says in which line an error occurred.
template <class Work>
auto in_line(std::size_t number, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.code(), "line " + std::to_string(number) + ": " + error.what());
  }
}

std::vector<std::int32_t> ids_of(std::span<const Token> tokens) {
  std::vector<std::int32_t> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

// Returns the model's number of each of its labels.
std::map<std::string_view, std::int32_t> numbers_of_labels(const ModelConfig& config) {
  std::map<std::string_view, std::int32_t> numbers;
  std::int32_t number = 0;
  for (const std::string& label : config.labels) numbers.emplace(label, number++);
  return numbers;
}

// Returns whether a model has all these labels. Throws for the name of two of them.
bool knows(const ModelConfig& config, const std::vector<std::string>& labels) {
  const auto known = numbers_of_labels(config);
  if (known.size() < config.labels.size()) {
    for (const std::string& label : labels) {
      if (std::ranges::count(config.labels, label) < 2) continue;
      throw_error(ErrorCode::invalid_data,
                  {"label {}: the model has two labels of this name", {describe(label)}});
    }
  }
  return std::ranges::all_of(labels,
                             [&](const std::string& label) { return known.contains(label); });
}

std::vector<std::int32_t> special_ids(std::span<const TemplatePart> around) {
  std::vector<std::int32_t> ids;
  for (const TemplatePart& part : around) {
    if (part.kind == TemplatePart::Kind::special) ids.push_back(part.id);
  }
  return ids;
}

Example example_of(const EncoderInput& input) {
  Example example;
  example.ids = ids_of(input.tokens);
  example.types = input.types;
  return example;
}

// Returns the label of each token that begins a word, and -1 for the others (Devlin et al. 2019,
// section 5.3). A token that is only the space before a word belongs to no entity or continues one,
// because `ner` takes it for a word. Removes the words that have begun from `words`.
std::vector<std::int32_t> labels_of_tokens(const EncoderInput& input,
                                           std::span<const TaggedSentence::Word>& words,
                                           const std::map<std::string_view, std::int32_t>& labels) {
  const auto index_of = [&labels](std::string_view label) {
    const auto found = labels.find(label);
    return found == labels.end() ? -1 : found->second;
  };
  std::vector<std::int32_t> result(input.tokens.size(), -1);
  for (std::size_t i = 0; i < input.tokens.size() && !words.empty(); ++i) {
    if (input.kinds[i] != TemplatePart::Kind::first_text) continue;
    const std::uint32_t end = input.tokens[i].end;
    if (end == words.front().begin) {
      const std::string_view label = words.front().label;
      result[i] = index_of(label.starts_with("I-") ? label : "O");
    }
    for (; !words.empty() && words.front().begin < end; words = words.subspan(1)) {
      result[i] = index_of(words.front().label);
    }
  }
  return result;
}

}  // namespace

LabelledTexts read_labelled(const std::vector<DataLine>& lines, const ModelConfig& config,
                            const Tokenizer& tokenizer) {
  const InputReader reader(config, tokenizer);
  const auto numbers = numbers_of_labels(config);
  LabelledTexts read;
  for (const DataLine& line : lines) {
    const auto label = numbers.find(line.second);
    if (label == numbers.end()) {
      throw_error(ErrorCode::invalid_data, {"line {}: expected a label of the model, got {}",
                                            {line.number, describe(line.second)}});
    }
    const EncoderInput input = in_line(line.number, [&] {
      return line.pair ? reader.read_pair(line.text, *line.pair) : reader.read(line.text);
    });
    read.clipped += input.clipped;
    read.examples.push_back(example_of(input));
    read.examples.back().label = label->second;
  }
  return read;
}

void TrainingSetupBuilder::take_tokenizer(const std::vector<DataLine>& lines) {
  made_.tokenizer = std::move(start_.tokenizer);
  made_.target_tokenizer = std::move(start_.target_tokenizer);
  if (made_.tokenizer) return;
  std::vector<std::string_view> texts;
  std::size_t bytes = 0;
  for (const DataLine& line : lines) {
    texts.push_back(line.text);
    if (options_.lessons == Lessons::translation) texts.push_back(line.second);
    bytes += line.text.size();
  }
  using Role = SpecialPiece::Role;
  made_.tokenizer_file =
      train_unigram(texts, {.vocab_size = options_.vocabulary.value_or(std::clamp(
                                bytes / bytes_per_piece, least_vocabulary, most_vocabulary)),
                            .lower_case = !options_.keep_case,
                            .special_pieces = {{"<unk>", Role::unknown},
                                               {"<s>", Role::begin},
                                               {"</s>", Role::end},
                                               {mask_names[0], Role::symbol}}});
  made_.tokenizer =
      std::make_unique<SentencePieceTokenizer>(SentencePieceTokenizer::parse(made_.tokenizer_file));
}

ModelConfig TrainingSetupBuilder::new_config(const std::vector<std::string>& labels) const {
  return parse_config(
      complete_config(start_.config, *options_.lessons, labels, made_.tokenizer->size()));
}

// Makes the model of a configuration, with the values of the one that was trained before.
void TrainingSetupBuilder::make_model_of(ModelConfig config) {
  made_.config = std::move(config);
  made_.model = make_model(made_.config.architecture);
  if (start_.model) {
    made_.fresh = false;
    copy_parameters(*start_.model, made_.model, options_.seed);
  } else {
    initialize(parameters(made_.model), options_.seed);
  }
}

std::vector<bool> TrainingSetupBuilder::special_tokens() const {
  const Tokenizer& tokenizer = *made_.tokenizer;
  std::vector<bool> special(made_.config.reader().vocab_size(), true);
  for (std::size_t id = 0; id < std::min(special.size(), tokenizer.size()); ++id) {
    special[id] = tokenizer.is_control(static_cast<std::int32_t>(id)) ||
                  static_cast<std::int32_t>(id) == tokenizer.unk_id();
  }
  return special;
}

void TrainingSetupBuilder::take_labels(std::vector<LabelCount> labels) {
  if (std::string warning = many_labels_warning(labels); !warning.empty()) {
    made_.warnings.push_back(std::move(warning));
  }
  made_.labels = std::move(labels);
}

void TrainingSetupBuilder::warn_of_clipped(std::size_t count) {
  if (count == 0) return;
  made_.warnings.push_back("examples with more tokens than the model reads, which were cut: " +
                           std::to_string(count));
}

// Makes a model for the labels: a new one, the one that was trained before, or that one with a new
// head if it lacks one of them.
void TrainingSetupBuilder::make_labeled_model(HeadKind kind) {
  const std::vector<std::string> labels = names_of(made_.labels);
  const ModelConfig* const known = start_.known ? &*start_.known : nullptr;
  const bool same = known && knows(*known, labels) && known->architecture.head.kind == kind;
  ModelConfig config = !known ? new_config(labels)
                       : same ? std::move(*start_.known)
                              : with_labels(std::move(*start_.known), labels, kind);
  parse_config(to_json(config));  // fails before anything is learned
  make_model_of(std::move(config));
}

TrainingSetupBuilder::TrainingSetupBuilder(TrainingStart start, const TrainingOptions& options)
    : start_(std::move(start)), options_(options) {
  check_ranges(options);
  if (options.lessons == Lessons::translation) return;
  for (const auto& [name, language] : {std::pair("from", &options.from), {"to", &options.to}}) {
    if (!*language) continue;
    refuse_option(name, {"expected none, as only translations have languages, got {}",
                         {describe(**language)}});
  }
}

TrainingSetup TrainingSetupBuilder::classes(std::string_view data) {
  const std::vector<DataLine> lines = read_data(data, DataForm::labelled);
  take_labels(count_labels(lines));
  take_tokenizer(lines);
  make_labeled_model(HeadKind::sequence_classes);
  LabelledTexts read = read_labelled(lines, made_.config, *made_.tokenizer);
  made_.examples = std::move(read.examples);
  warn_of_clipped(read.clipped);
  const TokenTemplate around = template_of(made_.config, *made_.tokenizer);
  made_.objective = std::make_unique<ClassObjective>(
      options_.drop_tokens, special_ids(lines[0].pair ? around.pair : around.single));
  return std::move(made_);
}

TrainingSetup TrainingSetupBuilder::token_classes(std::string_view data) {
  const std::vector<TaggedSentence> sentences = read_sentences(data);
  take_labels(count_labels(sentences));
  std::vector<DataLine> lines;
  for (const TaggedSentence& sentence : sentences) {
    lines.push_back({sentence.words[0].number, sentence.text, {}});
  }
  take_tokenizer(lines);
  make_labeled_model(HeadKind::token_classes);
  const InputReader reader(made_.config, *made_.tokenizer);
  const auto numbers = numbers_of_labels(made_.config);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto windows =
        in_line(lines[i].number, [&] { return reader.read_windows(lines[i].text, 0); });
    std::span words(sentences[i].words);
    for (const EncoderInput& window : windows) {
      made_.examples.push_back(example_of(window));
      made_.examples.back().labels = labels_of_tokens(window, words, numbers);
    }
  }
  made_.objective = std::make_unique<TokenClassObjective>();
  return std::move(made_);
}

TrainingSetup TrainingSetupBuilder::masked(std::string_view data) {
  const std::vector<DataLine> lines = read_data(data, DataForm::plain);
  take_tokenizer(lines);
  const ModelConfig config = start_.known ? std::move(*start_.known) : new_config({});
  if (!config.architecture.encoder || config.architecture.decoder) {
    throw_error(ErrorCode::wrong_task,
                {"expected a model with only an encoder to learn hidden tokens, got one for {}",
                 {to_string(config.task)}});
  }
  if (config.task == Task::fill_mask) {
    make_model_of(config);
  } else {
    ModelConfig learning = config;
    learning.architecture.head = {.kind = HeadKind::token_classes,
                                  .outputs = config.encoder().vocab_size()};
    make_model_of(std::move(learning));
    made_.config = without_head(config);
  }

  MaskedObjective::Options options = {.special = special_tokens()};
  const auto mask = find_mask(*made_.tokenizer);
  if (!mask) {
    throw_error(ErrorCode::invalid_tokenizer,
                "expected a tokenizer with [MASK] or <mask> to learn hidden tokens, got none");
  }
  options.mask = *mask;
  options.special[static_cast<std::size_t>(options.mask)] = true;
  made_.objective = std::make_unique<MaskedObjective>(options);
  const InputReader reader(made_.config, *made_.tokenizer);
  for (const DataLine& line : lines) {
    const auto windows = in_line(line.number, [&] { return reader.read_windows(line.text, 0); });
    for (const EncoderInput& window : windows) made_.examples.push_back(example_of(window));
  }
  return std::move(made_);
}

TrainingSetup TrainingSetupBuilder::next_token(std::string_view data) {
  const std::vector<DataLine> lines = read_data(data, DataForm::plain);
  take_tokenizer(lines);
  make_model_of(start_.known ? std::move(*start_.known) : new_config({}));
  const ModelConfig& config = made_.config;
  if (config.task != Task::text_generation) {
    throw_error(ErrorCode::wrong_task,
                {"expected a model for text-generation to learn next tokens, got one for {}",
                 {to_string(config.task)}});
  }
  const TokenTemplate around = template_of(config, *made_.tokenizer);
  const std::size_t longest = config.decoder().max_length + 1;  // the last one is only predicted
  for (const DataLine& line : lines) {
    const std::vector<Token> tokens = made_.tokenizer->encode(line.text);
    std::vector<std::int32_t> ids = ids_of(fill(around.single, tokens).tokens);
    const auto& ends = config.generation.end_ids;
    if (!ends.empty() && (ids.empty() || ids.back() != ends[0])) ids.push_back(ends[0]);
    for (std::size_t first = 0; first + 1 < ids.size(); first += longest) {
      const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(first);
      const std::size_t count = std::min(longest, ids.size() - first);
      if (count > 1) {
        made_.examples.push_back({.ids = {begin, begin + static_cast<std::ptrdiff_t>(count)}});
      }
    }
  }
  made_.objective = std::make_unique<NextTokenObjective>();
  return std::move(made_);
}

TrainingSetup TrainingSetupBuilder::translation(std::string_view data) {
  const std::vector<DataLine> lines = read_data(data, DataForm::pairs);
  expect_translations(lines);
  take_tokenizer(lines);
  make_model_of(start_.known ? std::move(*start_.known) : new_config({}));
  const ModelConfig& config = made_.config;
  if (config.task != Task::translation) {
    throw_error(ErrorCode::wrong_task,
                {"expected a model for translation to learn translations, got one for {}",
                 {to_string(config.task)}});
  }
  const Tokenizer& source = *made_.tokenizer;
  const Tokenizer& target = made_.target_tokenizer ? *made_.target_tokenizer : source;
  const auto id_of = [&](const std::string& piece, const char* field) {
    return glassformer::ids_of(std::span(&piece, 1), field, target)[0];
  };
  const std::int32_t start = id_of(config.start_token, "start_token");
  const std::int32_t end = id_of(config.end_token, "end_token");
  const TranslationLanguages languages(config, source, start);
  const SourceReader plain(config, source);
  const auto from = languages.source(options_.from);
  const SourceReader reader = from ? plain.with_language(*from) : plain;
  // What a translation begins with, without options of the call.
  const GenerationConfig& folder = config.generation;
  std::vector<std::int32_t> opening = {languages.start(options_.to)};
  if (const auto second = languages.second(
          options_.to, folder.early_stopping ? folder.second_token : std::nullopt)) {
    opening.push_back(*second);
  }
  const std::size_t room = config.decoder().max_length - opening.size();
  std::size_t several = 0, clipped = 0;
  for (const DataLine& line : lines) {
    Example& example = made_.examples.emplace_back();
    in_line(line.number, [&] {
      SourceReader::Whole read = reader.read_whole(line.text);
      std::vector<Token> written = target.encode(line.second);
      if (written.empty()) {
        throw_error(ErrorCode::invalid_data, "translation: expected tokens, got none");
      }
      expect_rows(written, target, config.decoder().vocab_size());
      several += read.sentences > 1;
      clipped += read.clipped || written.size() > room;
      written.resize(std::min(written.size(), room));
      example.ids = std::move(read.ids);
      example.target = opening;
      for (const Token& token : written) example.target.push_back(token.id);
      example.target.push_back(end);
    });
  }
  if (several > 0) {
    made_.warnings.push_back(
        "texts of several sentences, which the trained model translates one by one: " +
        std::to_string(several));
  }
  warn_of_clipped(clipped);
  made_.objective = std::make_unique<TranslationObjective>();
  return std::move(made_);
}

std::vector<Example> read_labelled(const PictureData& data, const ModelConfig& config) {
  const auto numbers = numbers_of_labels(config);
  const std::size_t rows = std::get<PatchInput>(config.encoder().input).rows();
  std::vector<Example> examples;
  for (const PictureData::Item& item : data.items) {
    const auto label = numbers.find(item.label);
    if (label == numbers.end()) {
      throw_error(ErrorCode::invalid_data, {"picture {}: expected a label of the model, got {}",
                                            {examples.size() + 1, describe(item.label)}});
    }
    Example& example = examples.emplace_back();
    example.picture = std::make_unique<const Picture>(
        Picture{data.width, data.height, data.channels, {item.bytes.begin(), item.bytes.end()}});
    example.patches = rows;
    example.label = label->second;
  }
  return examples;
}

TrainingSetup TrainingSetupBuilder::pictures(std::string_view file) {
  const PictureData data = read_pictures(file);
  take_labels(count_labels(data));
  const std::vector<std::string> labels = names_of(made_.labels);
  if (!start_.known) {
    ModelConfig config = parse_config(complete_config(start_.config, data, labels));
    config.pictures.size = {data.height, data.width};
    make_model_of(std::move(config));
  } else {
    ModelConfig& known = *start_.known;
    if (!reads_pictures(known)) {
      throw_error(ErrorCode::wrong_task,
                  {"expected a model for image-classification to learn pictures, got one for {}",
                   {to_string(known.task)}});
    }
    if (!knows(known, labels)) {
      known.labels = labels;
      known.architecture.head.outputs = labels.size();
      known.scoring = Scoring::softmax;
    }
    make_model_of(std::move(known));
  }
  published_config(made_.config);  // fails before anything is learned
  const ModelConfig& config = made_.config;
  const PatchInput& input = std::get<PatchInput>(config.encoder().input);
  made_.examples = read_labelled(data, config);
  const PreparedPicture first =
      prepare(*made_.examples[0].picture, config.pictures, input.channels);
  if (first.height != input.height || first.width != input.width) {
    throw_error(ErrorCode::invalid_data,
                {"pictures: expected {} x {} pixels after their preparation, got {} x {}",
                 {input.height, input.width, first.height, first.width}});
  }
  made_.objective = std::make_unique<PictureObjective>(PictureObjective::Options{
      .steps = config.pictures, .channels = input.channels, .distortion = options_.distortion});
  return std::move(made_);
}

namespace {

Lessons lessons_for(const TrainingStart& start) {
  const Task task = start.known ? start.known->task : task_of_config(start.config);
  switch (task) {
    case Task::translation:
      return Lessons::translation;
    case Task::text_generation:
      return Lessons::next_token;
    case Task::feature_extraction:
    case Task::fill_mask:
    case Task::text_classification:
      return Lessons::classes;
    case Task::token_classification:
      return Lessons::token_classes;
    case Task::image_classification:
      return Lessons::pictures;
    case Task::question_answering:
    case Task::text2text_generation:
    case Task::zero_shot_image_classification:
      break;
  }
  throw_error(ErrorCode::wrong_task,
              {"expected a model for text-classification, token-classification, text-generation or "
               "translation, or with lessons \"masked\" any encoder, got one for {}",
               {to_string(task)}});
}

TrainingSetup setup_of_lessons(TrainingStart start, std::string_view data,
                               const TrainingOptions& options) {
  TrainingSetupBuilder builder(std::move(start), options);
  switch (*options.lessons) {
    case Lessons::classes:
      return builder.classes(data);
    case Lessons::token_classes:
      return builder.token_classes(data);
    case Lessons::masked:
      return builder.masked(data);
    case Lessons::next_token:
      return builder.next_token(data);
    case Lessons::translation:
      return builder.translation(data);
    case Lessons::pictures:
      return builder.pictures(data);
    case Lessons::dictionary:
      break;
  }
  return {};
}

// Reads examples of what a model has learned, to look into it.
TrainingSetup examples_of_own_lessons(TrainingStart start, std::string_view data,
                                      TrainingOptions options) {
  if (!start.known) {
    throw_error(ErrorCode::wrong_task,
                "expected the folder of a model that has learned, to find features in it, got the "
                "configuration of a new one");
  }
  const ModelConfig& known = *start.known;
  options.lessons = known.task == Task::fill_mask ? Lessons::masked : lessons_for(start);
  if (known.task == Task::feature_extraction) {
    throw_error(ErrorCode::wrong_task,
                {"expected a model whose answers have a loss, to measure features by, got one for "
                 "{}",
                 {to_string(known.task)}});
  }
  const std::vector<std::string> labels = known.labels;
  TrainingSetup setup = setup_of_lessons(std::move(start), data, options);
  if (setup.config.labels != labels) {
    throw_error(ErrorCode::invalid_data,
                "expected examples with the labels of the model, got others");
  }
  return setup;
}

}  // namespace

TrainingSetup make_training_setup(TrainingStart start, std::string_view data,
                                  TrainingOptions& options) {
  if (options.lessons == Lessons::dictionary) {
    return examples_of_own_lessons(std::move(start), data, options);
  }
  for (const auto& [name, given] : {std::pair("kind", options.kind.has_value()),
                                    {"at", options.at.has_value()},
                                    {"features", options.features.has_value()},
                                    {"active", options.active.has_value()}}) {
    if (given) refuse_option(name, "expected it only with the lessons \"dictionary\", got others");
  }
  if (!options.lessons) {
    options.lessons = holds_pictures(data) ? Lessons::pictures : lessons_for(start);
  }
  return setup_of_lessons(std::move(start), data, options);
}

}  // namespace glassformer
