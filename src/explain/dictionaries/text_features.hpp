#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/dictionary/dictionary.hpp"
#include "run/session.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// The features of one dictionary that are active in a text.
struct TextFeatures {
  std::string name;  ///< what the dictionary writes
  DictionaryKind kind = DictionaryKind::transcoder;
  std::vector<std::string> tokens = {};               ///< of each row; empty for a picture
  std::vector<std::vector<ActiveFeature>> rows = {};  ///< the strongest first
  /// ‖y - ŷ‖² / ‖y - b_d‖² of each row: 0 if the features say all, 1 if they say nothing.
  std::vector<float> error = {};
};

/// Returns the features that are active in a run. `trace`: has the tensors that the dictionary
/// reads and writes, [N, D].
TextFeatures text_features(const Dictionary& dictionary, std::span<const TracedTensor> trace,
                           Session& session);

}  // namespace glassformer
