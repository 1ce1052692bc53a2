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

/// What a feed-forward block's one field says.
struct FeedForwardKind {
  Activation activation;
  bool gated;
};

/// The config.json of a published checkpoint. Fields that are not there have the family's defaults,
/// and what nobody asks for does not matter: such files hold much that is about training.
///
/// Every failure is an `invalid_config` or `unsupported` that names the field.
class HubConfig {
 public:
  static constexpr std::size_t most_fields = 1000;

  /// `headers`: of its weights. Their names say what a configuration leaves open, and their shapes
  /// bound what it may ask for; without any header there is no bound. `tokenizer`: of what the
  /// model writes; `name`: of the configuration, which outlives this.
  HubConfig(std::string_view json, std::span<const SafetensorsHeader> headers,
            const Tokenizer& tokenizer, std::string_view name = config_limit.name);

  /// Whether `architectures` of a config.json names a class that is an encoder alone.
  static bool names_encoder(JsonObject& config);

  std::string text(const char* key, std::string_view fallback);
  /// A size of some tensor: at most the largest that the weights have, if the field is there.
  std::size_t size(const char* key, std::size_t fallback);
  /// A size of no tensor, such as the number of computed positions.
  std::size_t free_size(const char* key, std::size_t fallback);
  /// The number of layers: at most as many as the weights have tensors of, if the field is there.
  /// `begin`: how the names of these tensors begin, behind a prefix, up to the layer's number:
  /// "encoder.layer.".
  std::size_t layers(const char* key, std::size_t fallback, std::string_view begin);
  std::size_t id(const char* key, std::size_t fallback);  ///< of a token: 0 is one
  /// The piece of a token that the field has the id of. Throws where it is none of the tokenizer's.
  std::string piece(const char* key, std::size_t fallback);
  std::int32_t unk_id() const { return tokenizer_.unk_id(); }
  float epsilon(const char* key, float fallback);
  bool flag(const char* key, bool fallback);
  /// Throws `unsupported` for one that is not among ours: two that are nearly alike give different
  /// answers.
  Activation activation(const char* key, std::string_view fallback);
  /// "relu", or "gated-gelu": which there is the gelu by tanh. Throws as `activation` does.
  FeedForwardKind feed_forward(const char* key, std::string_view fallback);
  /// Throws `unsupported` where the field has another value.
  void expect_text(const char* key, std::string_view value);
  void expect_flag(const char* key, bool value);

  /// The names of the classes, by their numbers: `id2label`, or LABEL_0 … of `num_labels`.
  std::vector<std::string> labels();
  /// Throws `unsupported` where `architectures` names another class.
  void expect_architecture(std::string_view name);
  /// Throws `missing_tensor` where the weights have a table of embeddings only as the output matrix
  /// of a masked language model, `output`: the library fills the table with random numbers then,
  /// for all tasks but that one, which is none of ours.
  void expect_embeddings(std::string_view output) const;
  /// What the model is for, by `architectures`, or where that is missing by the tensors of its
  /// head. Throws `unsupported` for another head, `invalid_config` where nothing tells.
  Task task();

  /// Sets the model's task and head: `dense` is what stands before the classes of a sequence, on
  /// its first token.
  void read_head(ModelConfig& config, Activation dense);
  /// Sets those of a model that gives the vectors of its tokens, without a head.
  void read_vectors(ModelConfig& config);
  /// Sets those of a model that continues texts, whose stack was read, and how it does.
  void read_next_token(ModelConfig& config);
  /// Sets those of a model that answers texts with texts, and how it does; its stacks were read.
  void read_text_to_text(ModelConfig& config);
  /// Sets how a model's texts are written: as the library transformers does, where
  /// generation_config.json does not say more.
  void read_generation(GenerationConfig& config);
  /// Sets what follows from the sizes that were read, and checks them.
  void finish(ModelConfig& config);

  /// Whether the weights have a tensor of this name, or one that ends with it behind a dot.
  bool has_tensor(std::string_view name_or_end) const;

 private:
  JsonSource source_;
  std::string text_;
  JsonObject object_;
  std::set<std::string> tensors_;
  bool bounded_;
  std::uint64_t largest_ = 0;  // of the tensors' dimensions
  const Tokenizer& tokenizer_;
};

}  // namespace glassformer
