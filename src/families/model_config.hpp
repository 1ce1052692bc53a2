#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "glassformer/embedder.hpp"
#include "glassformer/output.hpp"
#include "models/config.hpp"

namespace glassformer {

/// What a model is asked to do, by the names that model hubs have for it.
enum class Task {
  text_classification,
  translation,
  token_classification,
  question_answering,
  feature_extraction,
  text_generation,
  text2text_generation,
};

const char* to_string(Task task);
/// Whether models of this task write texts; the others read them.
bool writes(Task task);

/// What a text over the limit loses: its end, its middle, so that a quarter of the limit is its
/// beginning and the rest its end, where reviews have their verdict; or its beginning.
enum class Clip { end, middle, beginning };

/// What makes scores of a classifier's logits.
enum class Scoring {
  softmax,  ///< one label is right: the scores sum to 1
  sigmoid,  ///< each label is right or wrong by itself: 1 / (1 + e^-x)
  raw,      ///< the model estimates a quantity
};

const char* to_string(TokenPooling pooling);
/// What is wrong with the sizes of modules behind vectors of so many numbers; empty: nothing.
std::string sizes_problem(std::span<const VectorModule> modules, std::size_t size);

/// How vectors are made of token vectors.
struct VectorConfig {
  std::vector<TokenPooling> poolings;  ///< what is put side by side
  bool normalize = false;              ///< to length 1, in the end
  /// Texts to put before those of a call, by name, and the name of the one that is put there
  /// where a call says nothing; empty: none.
  std::vector<std::pair<std::string, std::string>> prompts = {};
  std::string default_prompt = {};
  bool include_prompt = true;  ///< a prompt's tokens are pooled, too

  /// Null if there is none of this name.
  const std::string* find_prompt(std::string_view name) const;

  bool operator==(const VectorConfig&) const = default;
};

/// The settings of a folder for one task, used when a call names it.
struct TaskSettings {
  std::string name;                   ///< such as "translation_en_to_de"
  std::optional<std::string> prefix;  ///< instead of the folder's; none: the folder's
  std::string settings;               ///< a JSON object with fields of generation_config.json

  bool operator==(const TaskSettings&) const = default;
};

/// How a folder's makers have texts written, where a call does not say otherwise.
struct GenerationConfig {
  std::string prefix = {};               ///< put before every text
  std::vector<TaskSettings> tasks = {};  ///< in the order of the file
  /// What the decoder of a model with an encoder reads first; a decoder alone reads the text.
  std::optional<std::int32_t> start_id = {};
  std::vector<std::int32_t> end_ids = {};  ///< tokens, one of which ends a text; none: nothing does
  bool sample = false;
  std::optional<std::size_t> max_new_tokens = {};
  /// Of what the decoder reads first and what it writes.
  std::optional<std::size_t> max_length = {};
  /// The same before a text may end, of what is written, and of both.
  std::optional<std::size_t> min_new_tokens = {}, min_length = {};
  /// Or, of a translation, so many tokens for each of its source's, rounded up.
  std::optional<float> max_length_factor = {};
  std::optional<std::size_t> beams = {};
  std::optional<std::size_t> top_k = {};
  std::optional<float> temperature = {};
  std::optional<float> top_p = {};
  std::optional<float> repetition_penalty = {};
  std::optional<std::size_t> no_repeat_ngram_size = {};
  std::optional<float> length_penalty = {};
  /// None: nothing says that searches are as the library transformers has them.
  std::optional<EarlyStopping> early_stopping = {};
  std::vector<std::vector<std::int32_t>> never = {};  ///< words, as their tokens, not written
  std::vector<std::int32_t> suppressed = {};          ///< tokens that are never written,
  std::vector<std::int32_t> not_first = {};           ///< or not as the first one
  std::vector<std::string> stop_strings = {};         ///< a text ends as soon as it contains one
  std::optional<std::int32_t> bos_id = {};            ///< what an empty text is read as
  std::optional<std::int32_t> last_token = {};  ///< is written where the longest text would go on
  /// Log-probabilities are those among the tokens that may be written.
  bool renormalize = false;
  /// Where they ask to draw, and for several beams.
  std::string sample_in = {}, beams_in = {};

  bool operator==(const GenerationConfig&) const = default;
};

/// What a model folder says of its model: the architecture, and how texts become its input and its
/// output an answer.
struct ModelConfig {
  Task task = Task::text_classification;
  Architecture architecture;

  std::vector<std::string> prefix_tokens;  // pieces put before the text's own
  std::vector<std::string> suffix_tokens;
  bool tokenizer_template = false;  // instead of both: what the tokenizer puts around texts
  std::string tokenizer_class;      // that reads the tokenizer's files; empty: they tell
  std::size_t max_tokens = 0;       // of a text; 0: as many as there are positions
  Clip clip = Clip::end;

  // Of classifiers.
  std::vector<std::string> labels;  // in the order of the head's outputs
  Scoring scoring = Scoring::softmax;

  /// The architecture that a published config.json names, if it has a head that is not run: the
  /// model makes vectors without it.
  std::string unused_head;

  // Of models that make vectors; what the pooled vector goes through is the head's.
  VectorConfig vectors;

  // Of a translation.
  std::string source_language, target_language;  // "en", "de"
  std::string start_token, end_token;            // pieces

  // Of a model that writes.
  GenerationConfig generation;

  /// The stack that reads texts.
  const StackConfig& reader() const {
    return architecture.encoder ? *architecture.encoder : *architecture.decoder;
  }
  /// The stacks that a model of this task has.
  const StackConfig& encoder() const { return *architecture.encoder; }
  const StackConfig& decoder() const { return *architecture.decoder; }

  /// The most tokens that the model reads at once, special ones included.
  std::size_t max_source_length() const {
    return max_tokens > 0 ? max_tokens : reader().max_length;
  }

  bool operator==(const ModelConfig&) const = default;
};

template <>
inline constexpr std::array choice_list<Task>{
    "text-classification", "translation",     "token-classification", "question-answering",
    "feature-extraction",  "text-generation", "text2text-generation"};
template <>
inline constexpr std::array choice_list<Scoring>{"softmax", "sigmoid", "raw"};
template <>
inline constexpr std::array choice_list<TokenPooling>{"cls",           "max",          "mean",
                                                      "mean_sqrt_len", "weightedmean", "lasttoken"};
template <>
inline constexpr std::array choice_list<Clip>{"end", "middle", "beginning"};

/// Reads the config.json of our own folders. A field that is not there and is not required means
/// what most models do: heads of d_model / n_heads, no token types, no norm on embeddings, a plain
/// feed-forward block with biases.
///
/// Throws Error: invalid_config for broken JSON, more bytes than config_limit, and unknown,
/// missing, mistyped or out-of-range fields; unsupported for an unknown model type or format
/// version, wrong_task for a task that is not the model type's. Accepted sizes keep every weight
/// matrix within 2^28 elements, so products of two sizes fit 32 bits.
ModelConfig parse_config(std::string_view json);

/// The configuration itself. Throws wrong_task unless it is of one of these tasks.
ModelConfig expect_task(ModelConfig config, std::span<const Task> tasks);

/// The inverse of parse_config; the same text for equal configurations.
std::string to_json(const ModelConfig& config);

}  // namespace glassformer
