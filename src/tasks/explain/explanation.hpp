#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/tasks/explain.hpp"
#include "api/tasks/translate.hpp"
#include "run/tape.hpp"
#include "run/trace/trace.hpp"
#include "tasks/image/image.hpp"
#include "tasks/result_writer.hpp"

// The typed results of explanations, and their fields.

namespace glassformer {

/// Norms, and how much the answer receives from each token.
struct ScoredNorms {
  ValueNorms norms;
  std::vector<float> scores;  ///< [T]
};

/// The answer that a classifier would give after each layer.
struct ScoredLens {
  struct Layer {
    std::string label;
    std::vector<float> scores;  ///< [C]
  };
  Lens lens;
  std::vector<Layer> layers;             ///< [L + 1]
  std::vector<std::string> labels = {};  ///< [C]
};

/// A test, and the tokens of each word that it removes or keeps.
struct WordFaithfulness {
  Faithfulness result;
  std::vector<std::vector<std::size_t>> words;
};

/// A sentence of a text and its translation, explained.
struct ExplainedSentence {
  std::uint32_t start = 0, end = 0;  ///< in the text
  SentenceTranslation translation = {};
  std::vector<float> rollout = {};  ///< [T, T + S]
  NextLens lens = {};               ///< [L + 1, T] the next words, read from each decoder layer
  std::vector<std::string> readings = {};  ///< the next words after each layer as one text
  std::vector<std::pair<std::string, float>> read_from = {};  ///< text and score per encoder layer
};
using ExplainedSentences = std::vector<ExplainedSentence>;

/// Why a translation has this token at this position.
struct SentenceLogitAttribution {
  std::size_t sentence = 0, position = 0;
  ExplainedSentence of;
  NextLogitAttribution attribution;
};

/// The result of an explanation. The method determines the type of `part`.
struct ExplainedInput {
  using Part = std::variant<Rollout, ScoredNorms, ScoredLens, LogitAttribution, PatchingResult,
                            NextPatchingResult, WordFaithfulness, CutEffects, Circuit, NextLens,
                            NextLogitAttribution, ExplainedSentences, SentenceLogitAttribution,
                            GradientScores, IntegratedGradients, Relevance, ZeroedValues>;
  std::string method = {};
  std::optional<std::string> label = {};  ///< for a classifier: the explained label
  std::vector<InputToken> tokens = {};    ///< [T]; empty for a translation or a picture
  std::optional<PatchGrid> grid = {};     ///< of a picture
  PictureRegion region = {};              ///< of a picture
  bool clipped = false;
  Part part = {};
};

inline float single(double number) { return static_cast<float>(number); }

template <class Visit>
void fields(Visit& visit, const Guess& guess) {
  visit("id", guess.id);
  visit("text", guess.text);
  visit("logprob", guess.logprob);
}

template <class Visit>
void fields(Visit& visit, Rollout& rollout) {
  const std::size_t tokens = rollout.scores.size();
  visit("scores", rollout.scores);
  visit.tensor({"rollout", {rollout.matrix.size() / tokens, tokens}, std::move(rollout.matrix)});
}

template <class Visit>
void fields(Visit& visit, GradientScores& result) {
  visit("scores", result.scores);
}

template <class Visit>
void fields(Visit& visit, IntegratedGradients& result) {
  visit("scores", result.scores);
  visit("value", result.value);
  visit("baseline", result.baseline);
  visit("gap", result.gap);
  visit("steps", result.steps);
}

template <class Visit>
void fields(Visit& visit, Relevance& relevance) {
  const std::size_t tokens = relevance.scores.size();
  visit("scores", relevance.scores);
  visit.tensor(
      {"relevance", {relevance.matrix.size() / tokens, tokens}, std::move(relevance.matrix)});
}

template <class Visit>
void fields(Visit& visit, ScoredNorms& result) {
  visit("scores", result.scores);
  visit.tensor(to_tensor("heads", std::move(result.norms.heads)));
  visit.tensor(to_tensor("layers", std::move(result.norms.layers)));
}

template <class Visit>
void fields(Visit& visit, ZeroedValues& result) {
  const std::size_t tokens = result.scores.size();
  visit("scores", result.scores);
  visit.tensor(to_tensor("layers", std::move(result.layers)));
  visit.tensor({"rollout", {tokens, tokens}, std::move(result.matrix)});
}

template <class Visit>
void fields(Visit& visit, ScoredLens& result) {
  Lens& lens = result.lens;
  std::span<const float> logits = lens.logits;
  visit.each("layers", result.layers, [&](const ScoredLens::Layer& layer) {
    visit("label", layer.label);
    visit.scores(result.labels, layer.scores, logits.first(lens.labels));
    logits = logits.subspan(lens.labels);
  });
  visit.tensor({"logits", {lens.layers + 1, lens.labels}, std::move(lens.logits)});
  visit.tensor(
      {"tokenLogits", {lens.layers + 1, lens.tokens, lens.labels}, std::move(lens.token_logits)});
}

template <class Visit>
void fields(Visit& visit, LogitAttribution& attribution) {
  std::vector<std::string> columns;
  for (const LogitColumn& column : attribution.columns) columns.push_back(to_string(column));
  visit("value", single(attribution.value));
  visit("columns", columns);
  if (!attribution.effects.empty()) visit("effects", attribution.effects);
  const std::vector<std::size_t> shape = {attribution.tokens, columns.size()};
  visit.tensor({"written", shape, std::move(attribution.written)});
  visit.tensor({"read", shape, std::move(attribution.read)});
}

template <class Visit>
void fields(Visit& visit, NextLogitAttribution& result) {
  visit("token", result.token);
  visit("against", result.against);
  fields(visit, result.attribution);
}

/// A cell of activation patching.
struct PatchingCell {
  const std::vector<std::size_t>& tokens;
  bool unpaired;
};

template <class Visit>
void fields(Visit& visit, const PatchingCell& cell) {
  visit("tokens", cell.tokens);
  visit("unpaired", cell.unpaired);
}

template <class Visit>
void fields(Visit& visit, PatchingResult& result) {
  const PatchingTable& table = result.table;
  std::vector<PatchingCell> cells;
  for (std::size_t cell = 0; cell < table.cells; ++cell) {
    cells.push_back({table.members[cell], table.unpaired[cell]});
  }
  visit("donorTokens", result.donor_tokens);
  visit("donorOf", result.donor_of);
  visit("baseColumns", result.base_columns);
  visit("donorColumns", result.donor_columns);
  visit("cells", cells);
  visit("base", table.base);
  visit("donor", table.donor);
  visit("plainBase", table.plain_base);
  visit("plainDonor", table.plain_donor);
  if (table.done < table.values.size()) visit("done", table.done);
  const std::vector<std::size_t> shape = {table.rows, table.cells};
  TracedTensor delta = {"delta", shape, {}}, share = {"share", shape, {}};
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (std::size_t cell = 0; cell < table.cells; ++cell) {
      delta.data.push_back(table.delta(row, cell));
      if (const auto of_cell = table.share(row, cell)) share.data.push_back(*of_cell);
    }
  }
  const bool apart = share.data.size() == delta.data.size();
  visit.tensor(std::move(delta));
  if (apart) visit.tensor(std::move(share));
}

template <class Visit>
void fields(Visit& visit, NextPatchingResult& result) {
  visit("token", result.token);
  visit("against", result.against);
  visit("prefix", result.prefix);
  fields(visit, result.patching);
}

template <class Visit>
void fields(Visit& visit, const OrderTest& test) {
  visit("score", test.score);
  visit("deletion", test.deletion);
  visit("insertion", test.insertion);
  visit("comprehensiveness", test.comprehensiveness);
  visit("sufficiency", test.sufficiency);
}

/// The scores of random orders, for comparison.
struct RandomOrders {
  const Faithfulness& of;
};

template <class Visit>
void fields(Visit& visit, const RandomOrders& random) {
  visit("mean", random.of.random_mean());
  visit("deviation", random.of.random_deviation());
  visit("scores", random.of.random);
}

template <class Visit>
void fields(Visit& visit, WordFaithfulness& result) {
  const Faithfulness& test = result.result;
  visit("words", result.words);
  visit("value", test.full);
  visit("counts", test.counts);
  visit("order", test.scores);
  visit("leaveOneOut", test.leave_one_out);
  visit("losses", test.losses);
  visit("random", RandomOrders{test});
}

template <class Visit>
void fields(Visit& visit, CutEffects& effects) {
  visit("value", effects.full);
  visit("without", effects.without);
  visit("alone", effects.alone);
}

template <class Visit>
void fields(Visit& visit, const AttentionEdge& edge) {
  visit("layer", edge.layer);
  visit("head", edge.head);
  visit("query", edge.query);
  visit("key", edge.key);
}

/// A head of a circuit.
struct CircuitHead {
  std::size_t layer, head;
};

template <class Visit>
void fields(Visit& visit, const CircuitHead& head) {
  visit("layer", head.layer);
  visit("head", head.head);
}

template <class Visit>
void fields(Visit& visit, Circuit& circuit) {
  std::vector<CircuitHead> heads;
  for (const auto& [layer, head] : circuit.heads) heads.push_back({layer, head});
  visit("value", circuit.full);
  visit("kept", circuit.kept);
  visit("nothing", circuit.nothing);
  visit("faithfulness", circuit.faithfulness);
  visit("heads", heads);
  visit("edges", circuit.edges);
}

template <class Visit>
void fields(Visit& visit, NextLens& lens) {
  visit("layers", lens.layers);
}

/// A token of a translation, as explanations return it.
struct NamedToken {
  std::int32_t id;
  const std::string& text;
};

template <class Visit>
void fields(Visit& visit, const NamedToken& token) {
  visit("id", token.id);
  visit("text", token.text);
}

/// The translation that was read from one encoder layer.
struct LayerReading {
  const std::string& text;
  float score;
};

template <class Visit>
void fields(Visit& visit, const LayerReading& reading) {
  visit("text", reading.text);
  visit("score", reading.score);
}

template <class Visit>
void sentence_fields(Visit& visit, ExplainedSentence& sentence) {
  const SentenceTranslation& of = sentence.translation;
  std::vector<NamedToken> tokens;
  for (const OutputToken& token : of.output.tokens) tokens.push_back({token.id, token.text});
  visit("start", sentence.start);
  visit("end", sentence.end);
  visit("text", of.output.text);
  visit("tokens", tokens);
  visit("sourceTokens", of.source_tokens);
}

template <class Visit>
void fields(Visit& visit, ExplainedSentence& sentence) {
  const SentenceTranslation& of = sentence.translation;
  sentence_fields(visit, sentence);
  if (!sentence.rollout.empty()) {
    const std::size_t targets = of.decoder->queries, sources = of.encoder->queries;
    visit.tensor({"rollout", {targets, targets + sources}, std::move(sentence.rollout)});
  }
  if (!sentence.lens.layers.empty()) fields(visit, sentence.lens);
  if (sentence.read_from.empty()) return;
  std::vector<LayerReading> layers;
  for (const auto& [text, score] : sentence.read_from) layers.push_back({text, score});
  visit("layers", layers);
}

template <class Visit>
void fields(Visit& visit, ExplainedSentences& sentences) {
  visit.each("sentences", sentences, [&](ExplainedSentence& sentence) { fields(visit, sentence); });
}

template <class Visit>
void fields(Visit& visit, SentenceLogitAttribution& result) {
  visit("sentence", result.sentence);
  sentence_fields(visit, result.of);
  visit("position", result.position);
  fields(visit, result.attribution);
}

template <class Visit>
void fields(Visit& visit, ExplainedInput& result) {
  visit("method", result.method);
  visit("label", result.label);
  const bool translation = std::holds_alternative<ExplainedSentences>(result.part) ||
                           std::holds_alternative<SentenceLogitAttribution>(result.part);
  if (result.grid) {
    visit("grid", *result.grid);
    visit("region", result.region);
  } else if (!translation) {
    visit("tokens", result.tokens);
    visit("clipped", result.clipped);
  }
  std::visit([&](auto& part) { fields(visit, part); }, result.part);
}

}  // namespace glassformer
