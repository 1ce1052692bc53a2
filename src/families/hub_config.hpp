#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/limits.hpp"
#include "families/model_config.hpp"
#include "text/tokenizer.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {

/// As config.json says: `problem_type`, empty if absent, and the number of labels. Regression is
/// raw; several labels at once, or one label in all, are sigmoid. Throws `invalid_config` for a
/// problem type that does not exist.
Scoring scoring_of(std::string_view problem_type, std::size_t labels);

/// An activation by the name that the library transformers has for it; none: not one of ours.
/// `known`: gets the list of all names, for an error.
std::optional<Activation> find_activation(std::string_view name, std::string* known = nullptr);

/// A key of a family's config.json and the field of ours that it sets (models/config.cpp names
/// them).
struct ConfigKey {
  std::string_view theirs, ours;
  const char* absent;  ///< JSON of the value that a missing or null key stands for
};

/// A stack as a family's config.json describes it.
struct StackKeys {
  std::span<const ConfigKey> keys;
  /// The beginning of the names of a layer's tensors, behind a prefix, up to the layer's number:
  /// "encoder.layer.". The weights bound how many layers a file may ask for.
  std::string_view layer_tensors;
};

/// The config.json of a published checkpoint. Fields that are not there have the family's defaults,
/// and fields that no family reads are ignored: such files hold much that is about training.
///
/// Every failure is an `invalid_config` or `unsupported` that names the field.
class HubConfig : public FieldErrors {
 public:
  static constexpr std::size_t most_fields = 1000;

  /// `headers`: of its weights. Their names say what a configuration leaves open, and their shapes
  /// bound what it may ask for; without any header there is no bound. `tokenizer`: of what the
  /// model writes; `name`: of the configuration, which outlives this.
  HubConfig(std::string_view json, std::span<const SafetensorsHeader> headers,
            const Tokenizer& tokenizer, std::string_view name = config_limit.name);

  /// Whether `architectures` of a config.json names a class that is an encoder alone.
  static bool names_encoder(JsonObject& config);

  /// Sets the fields of a stack that the family's keys name; all others stay as they are. Every
  /// layer gets the fields of the first one. `keys` outlives this.
  void read(StackConfig& stack, const StackKeys& keys);

  std::string text(const char* key, std::string_view fallback);
  /// A size of some tensor: at most the largest that the weights have, if the field is there.
  std::size_t size(const char* key, std::size_t fallback);
  /// A size of no tensor, such as the number of computed positions.
  std::size_t free_size(const char* key, std::size_t fallback);
  std::size_t id(const char* key, std::size_t fallback);  ///< of a token: 0 is one
  /// The piece of a token whose id the field holds. Throws if the tokenizer has no such token.
  std::string piece(const char* key, std::size_t fallback);
  std::int32_t unk_id() const { return tokenizer_.unk_id(); }
  bool flag(const char* key, bool fallback);
  /// The field, unless it is missing or null.
  const JsonValue* find(const char* key) { return present(object_.find(key)); }
  JsonObject& object() { return object_; }
  /// Throws `unsupported` for an activation that is not among ours: two that are nearly alike give
  /// different answers.
  Activation activation(const char* key, std::string_view fallback);
  /// Throws `unsupported`: the field has a meaning that is not supported.
  [[noreturn]] void refuse(const char* key, const Message& expected, const Message& got) const;
  /// Throws `unsupported` if the field has another value.
  void expect_text(const char* key, std::string_view value);
  void expect_flag(const char* key, bool value);
  /// The names of the classes, by their numbers: `id2label`, or LABEL_0 … of `num_labels`.
  std::vector<std::string> labels();

  /// Throws `unsupported` if `architectures` names another class.
  void expect_architecture(std::string_view name);

  /// Throws `missing_tensor` if the weights have a table of embeddings only as the output matrix
  /// of a masked language model, `output`: the library fills the table with random numbers then,
  /// for all tasks but that one, which is not supported here.
  void expect_embeddings(std::string_view output) const;

  /// The model's task, by `architectures` or, if that is missing, by the tensors of its head.
  /// Throws `unsupported` for another head, `invalid_config` if nothing tells.
  Task task();
  /// Sets the model's task and head: `dense` is the layer in front of the classes of a sequence,
  /// on its first token.
  void read_head(ModelConfig& config, const HeadDense& dense);
  /// Sets those of a model that gives the vectors of its tokens, without a head.
  void read_vectors(ModelConfig& config);
  /// Sets those of a model that continues texts, whose stack was read. `tied`: whether the output
  /// matrix is the table of embeddings unless the file says otherwise.
  void read_next_token(ModelConfig& config, bool tied = true);
  /// Sets those of a model that answers texts with texts; its stacks were read.
  void read_text_to_text(ModelConfig& config);
  /// Sets how a model's texts are written: as the library transformers does, unless
  /// generation_config.json says more.
  void read_generation(GenerationConfig& config);
  /// Sets what follows from the fields that were read, and validates them.
  void finish(ModelConfig& config);

  /// Whether the weights have a tensor of this name, or one that ends with it behind a dot.
  bool has_tensor(std::string_view name_or_end) const;

  /// An error about a field of ours names the family's key for it.
  [[noreturn]] void fail(const StackConfig* stack, const char* field,
                         const Message& problem) const override;

 private:
  // The layers whose tensors the weights have.
  std::size_t count_layers(std::string_view begin) const;

  JsonSource source_;
  std::string text_;
  JsonObject object_;
  std::set<std::string> tensors_;
  bool bounded_;
  std::uint64_t largest_ = 0;  // of the tensors' dimensions
  const Tokenizer& tokenizer_;
  std::vector<StackKeys> read_;            // the keys of the stacks that were read
  const Architecture* checked_ = nullptr;  // what finish validates
};

}  // namespace glassformer
