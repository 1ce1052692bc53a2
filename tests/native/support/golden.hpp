#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/runner.hpp"
#include "tasks/classify/classify.hpp"

namespace glassformer::test {

/// A tensor of golden.safetensors.
struct GoldenTensor {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

/// Reads the tensors of a file.
std::map<std::string, GoldenTensor> read_safetensors(const std::filesystem::path& path);

/// Every traced tensor of one text, run alone: golden.trace.safetensors.
struct GoldenTrace {
  std::size_t text = 0;
  std::map<std::string, GoldenTensor> tensors;
};

/// A folder of tests/fixtures/golden: a tiny model and PyTorch's results for a padded, masked batch
/// (tests/fixtures/reference/goldens.py, goldens_translation.py).
struct GoldenCase {
  explicit GoldenCase(const std::string& name);

  std::string name;
  std::filesystem::path folder;
  nlohmann::json json;  // golden.json: texts, ids, expected results, tolerances
  std::map<std::string, GoldenTensor> tensors;
  ModelConfig config;

  /// Returns the contents of golden.trace.safetensors.
  GoldenTrace traced() const;
  /// Returns the values of one of the model's weights.
  std::vector<float> weight(const std::string& tensor) const;
  /// Returns all texts' ids as one batch.
  Batch batch() const;
  /// Returns one text's ids, with some positions masked.
  Batch batch(std::size_t text, const std::vector<std::size_t>& masked = {}) const;
  double tolerance(const std::string& tensor) const;
  /// Fails the running test unless `got` equals the named tensor within its tolerance.
  void check(const std::string& tensor, const float* got, std::size_t size) const;
};

/// A golden classifier.
struct Golden : GoldenCase {
  explicit Golden(const std::string& name);
  std::unique_ptr<EncoderModel> model;
  mutable Session session;

  /// Runs the model in this session.
  EncoderModel::Output run(const Batch& batch, const TraceRequest& request = {}) const {
    return (*model)(batch, request, session);
  }
  /// Returns the model and the session, in the form that explanations take.
  EncoderRunner runner() const { return {*model, session}; }
};
std::vector<std::string> golden_names();

/// A golden translator.
struct TranslationGolden : GoldenCase {
  explicit TranslationGolden(const std::string& name);
  std::unique_ptr<Seq2Seq> model;
  mutable Session session;

  /// Run the model in this session.
  Seq2Seq::Encoded encode(const Batch& sources, const TraceRequest& request = {}) const {
    return model->encode(sources, request, session);
  }
  DecodingState begin(const Seq2Seq::Encoded& encoded, const DecodingLimits& limits,
                      const TraceRequest& request = {}) const {
    return model->begin(encoded, limits, request, session);
  }
  View decode(DecodingState& state, std::span<const Extension> extensions) const {
    return model->decode(state, extensions);
  }
  View project(const ConstView& hidden) const { return model->project(hidden, session); }

  /// Returns the forced target of a text: the start token and its pieces.
  std::vector<std::int32_t> target(std::size_t text) const;
  /// Returns whether the decoder has self-attention rather than a recurrent unit.
  bool has_self_attention() const;
};
std::vector<std::string> translation_golden_names();

/// Patterns that match any name, for runs that do not check names.
inline const std::vector<std::string> anything = {"*", "*.*", "*.*.*", "*.*.*.*", "*.*.*.*.*"};

/// Loads a model of this configuration with a folder's weights.
std::unique_ptr<EncoderModel> load_model(const std::filesystem::path& folder,
                                         const ModelConfig& config, Compute compute = Compute::f32);

}  // namespace glassformer::test
