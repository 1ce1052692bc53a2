#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "families/config/early_stopping.hpp"
#include "families/config/sampling_settings.hpp"
#include "families/config/token_pooling.hpp"
#include "image/picture_steps.hpp"
#include "models/config.hpp"

namespace glassformer {

class JsonObject;

/// The task of a model, named as on model hubs.
enum class Task {
  text_classification,
  translation,
  token_classification,
  question_answering,
  fill_mask,
  feature_extraction,
  text_generation,
  text2text_generation,
  image_classification,
  zero_shot_image_classification,
};

const char* to_string(Task task);
/// Returns the task with this name, if there is one.
std::optional<Task> find_task(std::string_view name);
/// Returns whether models for this task write texts. The others read texts or pictures.
bool writes(Task task);

/// The part of a text that is cut if it is over the limit: its end; its middle, keeping a quarter
/// of the limit from the beginning and the rest from the end, where reviews have their verdict; or
/// its beginning.
enum class Clip { end, middle, beginning };

/// The function that turns a classifier's logits into scores.
enum class Scoring {
  softmax,  ///< one label is right: the scores sum to 1
  sigmoid,  ///< each label on its own: 1 / (1 + e^-x)
  raw,      ///< the model estimates a quantity
};

const char* to_string(TokenPooling pooling);
/// Returns what is wrong with the sizes of modules for pooled vectors of this size, or an empty
/// string if they are valid.
std::string sizes_problem(std::span<const VectorModule> modules, std::size_t size);

/// How a text's vector is computed from its token vectors.
struct VectorConfig {
  std::vector<TokenPooling> poolings;  ///< their results are concatenated
  bool normalize = false;              ///< scales the final vector to length 1
  Similarity similarity = Similarity::cosine;
  /// Named texts to put before a call's texts, and the name of the default one (empty: no default).
  std::vector<std::pair<std::string, std::string>> prompts = {};
  std::string default_prompt = {};
  bool include_prompt = true;  ///< whether to pool a prompt's tokens, too
  /// The token that ends what is pooled: the first one of the text.
  std::optional<std::int32_t> end_id = {};

  /// Returns null if there is no prompt with this name.
  const std::string* find_prompt(std::string_view name) const;

  bool operator==(const VectorConfig&) const = default;
};

/// The settings of a folder for one task, used when a call names it.
struct TaskSettings {
  std::string name;                   ///< such as "translation_en_to_de"
  std::optional<std::string> prefix;  ///< replaces the folder's prefix, if set
  std::string settings;               ///< a JSON object with fields of generation_config.json

  bool operator==(const TaskSettings&) const = default;
};

/// A folder's default settings for generation.
struct GenerationConfig {
  std::string prefix = {};               ///< put before every text
  bool special_tokens = true;            ///< the tokenizer puts its own around every text
  std::vector<TaskSettings> tasks = {};  ///< in the order of the file
  /// The first decoder input of a model with an encoder. A decoder-only model reads the text.
  std::optional<std::int32_t> start_id = {};
  std::vector<std::int32_t> end_ids = {};  ///< each of them ends a text; may be empty
  bool sample = false;
  std::optional<std::size_t> max_new_tokens = {};
  /// Maximum number of tokens, including those the decoder reads first.
  std::optional<std::size_t> max_length = {};
  /// Minimum number of tokens before a text may end: of the output only, and including those the
  /// decoder reads first.
  std::optional<std::size_t> min_new_tokens = {}, min_length = {};
  /// Maximum number of a translation's tokens per source token, rounded up.
  std::optional<float> max_length_factor = {};
  std::optional<std::size_t> beams = {};
  SamplingSettings sampling = {};
  std::optional<float> length_penalty = {};
  /// If not set, no file requires the search rules of the library transformers.
  std::optional<EarlyStopping> early_stopping = {};
  std::vector<std::vector<std::int32_t>> never = {};  ///< forbidden words, as token sequences
  std::vector<std::int32_t> suppressed = {};          ///< tokens that are never generated
  std::vector<std::int32_t> not_first = {};           ///< tokens that are never generated first
  std::vector<std::string> stop_strings = {};         ///< a text ends as soon as it contains one
  std::optional<std::int32_t> bos_id = {};            ///< the input for an empty text
  std::optional<std::int32_t> second_token = {};      ///< forced after a decoder's first token
  std::optional<std::int32_t> last_token = {};  ///< forced as the last token at the maximum length
  /// Normalizes log-probabilities over the allowed tokens only.
  bool renormalize = false;
  /// The names of the files that turn on sampling and set several beams.
  std::string sample_in = {}, beams_in = {};

  bool operator==(const GenerationConfig&) const = default;
};

/// How a chat becomes a text.
struct ChatConfig {
  struct Template {
    std::string name;    ///< "default", "tool_use" or others
    std::string source;  ///< in the language Jinja

    bool operator==(const Template&) const = default;
  };
  std::vector<Template> templates = {};
  /// Tokens that a template may name, by their names there, such as "bos_token".
  std::vector<std::pair<std::string, std::string>> tokens = {};

  /// Returns the template with a name, or null.
  const Template* find(std::string_view name) const;
  /// Returns the text of a token, or an empty text.
  std::string token(std::string_view name) const;

  bool operator==(const ChatConfig&) const = default;
};

/// The code of a language that a folder does not name: BCP 47's "undetermined".
inline constexpr const char* no_language = "und";

/// The configuration of a model folder: the architecture, and how to convert texts to its input and
/// its output to results.
struct ModelConfig {
  Task task = Task::text_classification;
  Architecture architecture;

  std::vector<std::string> prefix_tokens;  // pieces put before the text's own
  std::vector<std::string> suffix_tokens;
  bool tokenizer_template = false;  // if true, the tokenizer's template replaces both
  std::string tokenizer_class;      // of the tokenizer's files; empty: detected from them
  std::size_t max_tokens = 0;       // per text; 0: the number of positions
  Clip clip = Clip::end;

  // For classifiers.
  std::vector<std::string> labels;  // in the order of the head's outputs
  Scoring scoring = Scoring::softmax;

  /// The architecture that a published config.json names, if it has a head that is not run. The
  /// model outputs vectors without it.
  std::string unused_head;

  /// For models that read pictures: how a picture is prepared. It has a file of its own,
  /// preprocessor_config.json.
  PictureSteps pictures;

  // For models that output vectors. The modules after pooling belong to the head.
  VectorConfig vectors;

  // For translation models.
  std::string source_language, target_language;  // "en", "de", or no_language
  std::string start_token, end_token;            // pieces

  // For models that write.
  GenerationConfig generation;
  ChatConfig chat;  // without an encoder

  /// Returns the stack that reads texts.
  const StackConfig& reader() const {
    if (architecture.text_encoder) return *architecture.text_encoder;
    return architecture.encoder ? *architecture.encoder : *architecture.decoder;
  }
  /// Only valid for the stacks that a model of this task has.
  const StackConfig& encoder() const { return *architecture.encoder; }
  const StackConfig& decoder() const { return *architecture.decoder; }

  /// Returns the maximum number of input tokens, including special ones.
  std::size_t max_source_length() const {
    return max_tokens > 0 ? max_tokens : reader().max_length;
  }

  bool operator==(const ModelConfig&) const = default;
};

/// Returns whether the model reads pictures.
inline bool reads_pictures(const ModelConfig& config) {
  return config.task == Task::image_classification ||
         config.task == Task::zero_shot_image_classification;
}

/// Returns the configuration of the part of a dual encoder that reads texts.
ModelConfig text_part(const ModelConfig& config);

/// Reads only the task and the fields that tell what belongs around a text: `tokenizer_template`,
/// `prefix_tokens` and `suffix_tokens`. Throws as parse_config does.
ModelConfig parse_tokenizer_fields(JsonObject& object);
/// Returns whether the model reads or writes tokens, so that its folder must have a tokenizer.
bool needs_tokenizer(const ModelConfig& config);

template <>
inline constexpr std::array enum_names<Task>{"text-classification",
                                             "translation",
                                             "token-classification",
                                             "question-answering",
                                             "fill-mask",
                                             "feature-extraction",
                                             "text-generation",
                                             "text2text-generation",
                                             "image-classification",
                                             "zero-shot-image-classification"};
template <>
inline constexpr std::array enum_names<Scoring>{"softmax", "sigmoid", "raw"};
template <>
inline constexpr std::array enum_names<Similarity>{"cosine", "dot", "euclidean", "manhattan"};

template <>
inline constexpr std::array enum_names<TokenPooling>{"cls",           "max",          "mean",
                                                     "mean_sqrt_len", "weightedmean", "lasttoken"};
template <>
inline constexpr std::array enum_names<Clip>{"end", "middle", "beginning"};

/// Reads the config.json of our own folders. Absent optional fields have common defaults: heads of
/// d_model / n_heads, no token types, no norm on embeddings, a plain feed-forward block with
/// biases.
///
/// Throws Error: invalid_config for broken JSON, more bytes than config_limit, and unknown,
/// missing, mistyped or out-of-range fields; unsupported for an unknown model type or format
/// version; wrong_task for a task that does not fit the model type. Accepted sizes keep every
/// weight matrix within 2^28 elements, so products of two sizes fit 32 bits.
ModelConfig parse_config(std::string_view json);

/// Returns the configuration unchanged. Throws wrong_task unless its task is one of these.
ModelConfig expect_task(ModelConfig config, std::span<const Task> tasks);

/// The inverse of parse_config. Equal configurations give the same text.
std::string to_json(const ModelConfig& config);

}  // namespace glassformer
