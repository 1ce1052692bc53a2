#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "layers/linear/linear.hpp"
#include "models/config.hpp"
#include "run/session.hpp"
#include "tensor/tensor.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

enum class DictionaryKind {
  transcoder,  ///< reads what a feed-forward block reads, and writes what it writes (Dunefsky 2024)
  sae,         ///< a sparse autoencoder: writes what it reads
};

/// Features of the numbers inside a model: a sparse code of D numbers by F features, at most
/// `active` of them at a time.
struct DictionaryConfig {
  DictionaryKind kind = DictionaryKind::transcoder;
  std::string reads;   ///< the name of the tensor x [N, D]
  std::string writes;  ///< that of y [N, D]
  std::size_t d_model = 0, features = 0, active = 0;
  std::size_t marks = 0;  ///< numbers of the model that it was made for; see marks_of

  /// Whether it belongs to the decoder, not to the encoder.
  bool in_decoder() const { return writes.starts_with("decoder."); }

  bool operator==(const DictionaryConfig&) const = default;
};

/// A feature that reads more than nothing, and how much.
struct ActiveFeature {
  std::uint32_t feature;
  float activation;

  bool operator==(const ActiveFeature&) const = default;
};

/// z = TopK(ReLU(W_e x + b_e)), ŷ = W_d z + b_d (Gao et al. 2024, "Scaling and evaluating sparse
/// autoencoders"; Dunefsky et al. 2024, "Transcoders Find Interpretable LLM Feature Circuits").
class Dictionary {
 public:
  explicit Dictionary(DictionaryConfig config);
  Dictionary(const Dictionary&) = delete;  // parameters point to this object
  Dictionary& operator=(const Dictionary&) = delete;

  /// Declares `NAME.encoder.weight` [F, D], `NAME.encoder.bias` [F], `NAME.decoder.weight` [F, D],
  /// a row for each feature, `NAME.decoder.bias` [D] and, if there are any, `NAME.marks`, where
  /// NAME is what it writes.
  std::vector<NamedParameter> parameters();

  const DictionaryConfig& config() const { return config_; }
  const Linear& encoder() const { return encoder_; }
  const Parameter& bias() const { return bias_; }
  std::span<const float> marks() const { return marks_.value; }

  /// pre [N, F] = W_e x + b_e.
  void read(const ConstView& x, View pre, Session& session) const { encoder_(x, pre, session); }
  /// Returns the active features of a row of `pre`, the strongest first.
  std::vector<ActiveFeature> active(std::span<const float> pre) const;
  /// Returns the active features of each row of x [N, D].
  std::vector<std::vector<ActiveFeature>> active(const ConstView& x, Session& session) const;
  /// Returns what a feature writes per unit of its activation, [D].
  std::span<const float> direction(std::size_t feature) const {
    return std::span(decoder_.value).subspan(feature * config_.d_model, config_.d_model);
  }
  /// y [D] = ŷ.
  void write(std::span<const ActiveFeature> features, std::span<float> y) const;

 private:
  DictionaryConfig config_;
  Linear encoder_;
  Parameter decoder_, bias_, marks_;
};

/// Returns the name of what the feed-forward block of a layer reads, such as
/// "decoder.layers.2.final_layer_norm". `attends`: the layer has cross-attention.
std::string feed_forward_input(const StackConfig& stack, const std::string& stack_name,
                               std::size_t layer, bool attends);

/// Several dictionaries of one model.
class DictionarySet {
 public:
  explicit DictionarySet(const std::vector<DictionaryConfig>& configs);

  std::size_t size() const { return dictionaries_.size(); }
  Dictionary& operator[](std::size_t i) { return *dictionaries_[i]; }
  const Dictionary& operator[](std::size_t i) const { return *dictionaries_[i]; }
  std::vector<NamedParameter> parameters();

 private:
  std::vector<std::unique_ptr<Dictionary>> dictionaries_;
};

template <>
inline constexpr std::array enum_names<DictionaryKind>{"transcoder", "sae"};

}  // namespace glassformer
