#pragma once

#include <memory>

#include "explain/contrast.hpp"
#include "explain/dictionaries/graph.hpp"
#include "explain/next_token.hpp"
#include "models/dictionary/dictionary.hpp"

namespace glassformer {

/// Computes the graph of the number that a contrast makes of the next token's logits, step by step.
class AttributionGraphSearch {
 public:
  /// All arguments must outlive this. Throws `unsupported` if this program or the model's
  /// arithmetic has no gradients, for linear attention and recurrent units, and for dictionaries
  /// that are not transcoders.
  AttributionGraphSearch(const WriterRunner& model, const DecodedText& text,
                         const Contrast& contrast, const DictionarySet& dictionaries,
                         const AttributionGraphOptions& options);
  ~AttributionGraphSearch();

  /// Runs the model, leads some features back, or tests an edge. Returns whether anything is left.
  bool step();
  AttributionGraph take();

 private:
  class Builder;
  std::unique_ptr<Builder> builder_;
};

}  // namespace glassformer
