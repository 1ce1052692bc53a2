#pragma once

#include "explain/contrast.hpp"
#include "explain/dictionaries/graph.hpp"
#include "explain/next_token.hpp"
#include "models/dictionary/dictionary.hpp"

namespace glassformer {

/// Computes the graph of the number that a contrast makes of the next token's logits. Throws
/// `unsupported` if this program or the model's arithmetic has no gradients, for linear attention
/// and recurrent units, and for dictionaries that are not transcoders.
AttributionGraph attribution_graph(const WriterRunner& model, const DecodedText& text,
                                   const Contrast& contrast, const DictionarySet& dictionaries,
                                   const AttributionGraphOptions& options);

}  // namespace glassformer
