#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"
#include "base/limits.hpp"
#include "families/config/model_config.hpp"
#include "text/tokenizer.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {

/// Returns the scoring for `problem_type` of a config.json (empty if absent) and a number of
/// labels. Regression is raw; several labels at once, or a single label in total, are sigmoid.
/// Throws `invalid_config` for an unknown problem type.
Scoring scoring_of(std::string_view problem_type, std::size_t labels);

/// Returns the activation with this name in the library transformers, or nothing if it is not
/// supported. Sets `known` to the list of all names, for an error.
std::optional<Activation> find_activation(std::string_view name, std::string* known = nullptr);

/// Returns a name of the activation in the library transformers.
std::string_view activation_name(Activation activation);

/// A key of a family's config.json and the field of ours that it sets (see models/config.cpp).
struct ConfigKey {
  std::string_view theirs, ours;
  const char* absent;  ///< JSON of the default, for a key that is missing or null
};

/// A stack as described by a family's config.json.
struct StackKeys {
  std::span<const ConfigKey> keys;
  /// The start of the names of a layer's tensors, after a prefix, up to the layer's number:
  /// "encoder.layer.". The weights limit the number of layers that a file may have. Empty: they do
  /// not, because layers share weights.
  std::string_view layer_tensors;
};

/// The head of a family's masked language models.
struct MaskedHead {
  /// The weight of its dense layer, which only checkpoints with this head have.
  std::string_view layer;
  /// The name of the embedding table as the head's output matrix. Empty: it has no other name.
  std::string_view table;
  std::optional<Activation> activation = {};  ///< of the dense layer; absent: the stack's own
  bool dense_bias = true;                     ///< of the dense layer
  bool bias = true;                           ///< of the vocabulary
};

/// The config.json of a published checkpoint. Absent fields have the family's defaults. Fields that
/// no family reads are ignored, because such files contain many training settings.
///
/// Every error is an `invalid_config` or `unsupported` that names the field.
class HubConfig : public FieldErrors {
 public:
  static constexpr std::size_t most_fields = 1000;

  /// `headers` of the weights: their names complete the configuration, and their shapes limit its
  /// sizes; if empty, there is no limit. `tokenizer` is the one of the output, or
  /// null if the model reads pictures. `name` is the name
  /// of the configuration, which must outlive this object.
  HubConfig(std::string_view json, std::span<const SafetensorsHeader> headers,
            const Tokenizer* tokenizer, std::string_view name = config_limit.name);

  /// Returns the part of this configuration that is the object `key` of it, or that has only
  /// defaults if there is none. The weights are the same.
  HubConfig part(const char* key);

  /// Returns whether `architectures` of a config.json names a class with this end.
  static bool names_class(JsonObject& config, std::string_view end);

  /// Sets the fields of a stack that the family's keys name; all others stay as they are. Every
  /// layer gets the fields of the first one. `keys` must outlive this object.
  void read(StackConfig& stack, const StackKeys& keys);

  std::string text(const char* key, std::string_view fallback);
  /// Reads a size that is a tensor's dimension. If the field is present, the size must not exceed
  /// the largest dimension in the weights.
  std::size_t size(const char* key, std::size_t fallback);
  /// Reads a size that is not a tensor's dimension, such as the number of computed positions.
  std::size_t free_size(const char* key, std::size_t fallback);
  std::size_t id(const char* key, std::size_t fallback);  ///< of a token; may be 0
  /// Returns the id of a token, or its piece. Throws if the tokenizer has no such token.
  std::int32_t token(const char* key, std::size_t fallback);
  std::string piece(const char* key, std::size_t fallback);
  std::int32_t unk_id() const { return tokenizer_->unk_id(); }
  /// Throws `unsupported` unless the tokenizer puts this token at the end of every text and pair.
  void expect_end_token(const char* key, std::int32_t id) const;
  bool flag(const char* key, bool fallback);
  /// Reads a height and a width: one number for both, or an array of two.
  std::array<std::size_t, 2> sides(const char* key, std::size_t fallback);
  /// Returns the field, or null if it is missing or null.
  const JsonValue* find(const char* key) { return present(object_.find(key)); }
  JsonObject& object() { return object_; }
  /// Throws `unsupported` for an unsupported activation. Similar ones are not substituted, because
  /// they give different outputs.
  Activation activation(const char* key, std::string_view fallback);
  /// Throws `unsupported` for a field with an unsupported meaning.
  [[noreturn]] void refuse(const char* key, const Message& expected, const Message& got) const;
  /// Throws `unsupported` if the field has another value.
  void expect_text(const char* key, std::string_view value);
  void expect_flag(const char* key, bool value);
  /// Returns the names of the classes by index: from `id2label`, or LABEL_0 … from `num_labels`, or
  /// of the family's usual number.
  std::vector<std::string> labels(std::size_t usual = 2);

  /// Throws `unsupported` if `architectures` names another class.
  void expect_architecture(std::string_view name);

  /// Throws `missing_tensor` if the weights have the embedding table only as the matrix of this
  /// head, and the model has another task: the library would fill the table with random numbers
  /// then.
  void expect_embeddings(const MaskedHead& masked);

  /// Returns the model's task, from `architectures` or, if that is missing, from the tensors of its
  /// head. `masked` is a weight of the head that fills masks. Throws `unsupported` for another
  /// head, `invalid_config` if neither defines a task.
  Task task(std::string_view masked);
  /// Sets the model's task and head. Its stack must be read first. `dense` is the layer before the
  /// sequence classifier, applied to the first token.
  void read_head(ModelConfig& config, const HeadDense& dense, const MaskedHead& masked);
  /// Sets the task and labels of a model that classifies texts, and its head with this pooling.
  /// `usual`: the number of labels if none is given.
  void read_text_classes(ModelConfig& config, const HeadDense& dense, Pooling pooling,
                         std::size_t usual = 2);
  /// Sets the task and head of a model that classifies pictures. Its stack must be read first.
  void read_picture_classes(ModelConfig& config, Pooling pooling = Pooling::first);
  /// Sets the task and head of a model that outputs the vectors of its tokens.
  void read_vectors(ModelConfig& config);
  /// Does the same for a model that read_head has given another head, which is not used then.
  /// Throws as expect_embeddings does.
  void leave_out_head(ModelConfig& config);
  /// Sets the task and head of a model that continues texts. Its stack must be read first. `tied`
  /// is the default for whether the output matrix is the embedding table.
  void read_next_token(ModelConfig& config, bool tied = true);
  /// Sets the task and head of a text-to-text model. Its stacks must be read first.
  void read_text_to_text(ModelConfig& config);
  /// Sets the generation settings to the defaults of the library transformers. A
  /// generation_config.json may override them later.
  void read_generation(GenerationConfig& config);
  /// Sets the task and head of a dual encoder. Its stacks must be read first.
  void read_projections(ModelConfig& config);
  /// Sets the fields that follow from the others and validates all of them.
  void finish(ModelConfig& config);

  /// Returns whether the weights have a tensor with this name, or one whose name ends with a dot
  /// and this name.
  bool has_tensor(std::string_view name_or_end) const;

  /// Throws an error about one of our fields with the family's key for it.
  [[noreturn]] void fail(const StackConfig* stack, const char* field,
                         const Message& problem) const override;

 private:
  HubConfig(const HubConfig& whole, std::string text, std::string_view path);

  void expect_own_table() const;  // throws as expect_embeddings does
  // Returns the number of layers that have tensors in the weights.
  std::size_t count_layers(std::string_view begin) const;

  JsonSource source_;
  std::string text_;
  JsonObject object_;
  std::set<std::string> tensors_;
  bool bounded_;
  std::uint64_t largest_ = 0;  // of the tensors' dimensions
  const Tokenizer* tokenizer_;
  std::string_view masked_table_;          // MaskedHead::table
  std::vector<StackKeys> read_;            // the keys of the stacks that were read
  const Architecture* checked_ = nullptr;  // the architecture that finish validates
};

}  // namespace glassformer
