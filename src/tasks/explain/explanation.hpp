#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/tasks/explain.hpp"
#include "api/tasks/translate.hpp"
#include "explain/circuits/circuit.hpp"
#include "explain/dictionaries/graph.hpp"
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
    std::vector<float> scores, logits;  ///< [C]
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

/// A circuit between two texts, and the tokens of the second.
struct PairCircuit {
  EdgeCircuit circuit;
  std::vector<InputToken> donor_tokens;
};

/// The result of an explanation. The method determines the type of `part`.
struct ExplainedInput {
  using Part = std::variant<Rollout, ScoredNorms, ScoredLens, LogitAttribution, PatchingResult,
                            NextPatchingResult, WordFaithfulness, CutEffects, Circuit, NextLens,
                            NextLogitAttribution, ExplainedSentences, SentenceLogitAttribution,
                            GradientScores, IntegratedGradients, Relevance, PropagatedRelevance,
                            ZeroedValues, PairCircuit>;
  std::string method = {};
  std::optional<std::string> label = {};  ///< for a classifier: the explained label
  std::vector<InputToken> tokens = {};    ///< [T]; empty for a translation or a picture
  std::optional<PatchGrid> grid = {};     ///< of a picture
  PictureRegion region = {};              ///< of a picture
  bool clipped = false;
  Part part = {};
};

inline constexpr ResultField about_explained_token = {.help = "The explained token."};
inline constexpr ResultField about_compared_token = {.help = "The one that it is compared with."};

inline float single(double number) { return static_cast<float>(number); }

/// Returns a table [T rows or fewer, tokens] as a tensor.
inline TracedTensor rows_by_tokens(const char* name, std::vector<float> table, std::size_t tokens) {
  const std::size_t rows = tokens == 0 ? 0 : table.size() / tokens;
  return {name, {rows, tokens}, std::move(table)};
}

template <class Visit>
void fields(Visit& visit, const Guess& guess) {
  visit("id", guess.id);
  visit("text", guess.text);
  visit("logprob", guess.logprob, {.help = "The natural logarithm of the model's probability."});
}

template <class Visit>
void fields(Visit& visit, Rollout& rollout) {
  const std::size_t tokens = rollout.scores.size();
  visit("scores", rollout.scores,
        {.help = "[T] The share of each token in the state that the answer is computed from."});
  visit.tensor(rows_by_tokens("rollout", std::move(rollout.matrix), tokens),
               {.help = "[T, T] Row i: the share of each input token in token i's last state."});
}

template <class Visit>
void fields(Visit& visit, GradientScores& result) {
  visit("scores", result.scores,
        {.help = "One for each row that the model reads, in units of the explained number."});
}

template <class Visit>
void fields(Visit& visit, IntegratedGradients& result) {
  visit("scores", result.scores,
        {.help = "One for each row that the model reads; 0 for special tokens. Together with `gap` "
                 "they sum to `value` - `baseline`."});
  visit("value", result.value, {.help = "The explained number."});
  visit("baseline", result.baseline,
        {.help = "The same with the embeddings at their beginning, such as zeros."});
  visit("gap", result.gap,
        {.help = "`value` - `baseline` - the sum of `scores`: the error of the finite number of "
                 "steps."});
  visit("steps", result.steps, {.help = "The number of steps."});
}

template <class Visit>
void fields(Visit& visit, Relevance& relevance) {
  const std::size_t tokens = relevance.scores.size();
  visit("scores", relevance.scores,
        {.help = "The relevance of each row that the model reads for the answer; never negative."});
  visit.tensor(rows_by_tokens("relevance", std::move(relevance.matrix), tokens),
               {.help = "[T, T] Row i: the relevance of each token for token i's last state; of a "
                        "translation [T, T + S], for the decoder's."});
}

template <class Visit>
void fields(Visit& visit, PropagatedRelevance& result) {
  visit("scores", result.scores,
        {.help = "The relevance of each row that the model reads for the answer, in units of the "
                 "explained number."});
  visit("value", result.value,
        {.help = "The explained number. What `scores` lack of it is that of biases and positions "
                 "and, with attn_lrp, of the softmax."});
}

template <class Visit>
void fields(Visit& visit, ScoredNorms& result) {
  visit("scores", result.scores, {.help = "[T] How much the answer receives from each token."});
  visit.tensor(to_tensor("heads", std::move(result.norms.heads)),
               {.help = "[L, H, T, T] ‖αf(x)‖ for each head."});
  visit.tensor(to_tensor("layers", std::move(result.norms.layers)),
               {.help = "[L, 1, T, T] The same for all heads together."});
}

template <class Visit>
void fields(Visit& visit, ZeroedValues& result) {
  const std::size_t tokens = result.scores.size();
  visit("scores", result.scores, {.help = "[T] How much the answer receives from each token."});
  visit.tensor(
      to_tensor("layers", std::move(result.layers)),
      {.help = "[L, 1, T, T] Row i: how much each token's value counts for token i's output "
               "of a layer."});
  visit.tensor(rows_by_tokens("rollout", std::move(result.matrix), tokens),
               {.help = "[T, T] The product of the layers."});
}

template <class Visit>
void fields(Visit& visit, const ScoredLens::Layer& layer, std::span<const std::string> labels) {
  visit("label", layer.label, {.help = "The label with the highest score."});
  visit.scores(labels, layer.scores, layer.logits);
}

template <class Visit>
void fields(Visit& visit, ScoredLens& result) {
  Lens& lens = result.lens;
  visit.each("layers", result.layers,
             [&](const ScoredLens::Layer& layer) { fields(visit, layer, result.labels); },
             {.help = "The head's output before each layer, and after the last one."});
  visit.tensor({"logits", {lens.layers + 1, lens.labels}, std::move(lens.logits)},
               {.help = "[L + 1, C] For the text."});
  visit.tensor(
      {"tokenLogits", {lens.layers + 1, lens.tokens, lens.labels}, std::move(lens.token_logits)},
      {.help = "[L + 1, T, C] For each token by itself."});
}

template <class Visit>
void fields(Visit& visit, LogitAttribution& attribution) {
  std::vector<std::string> columns;
  for (const LogitColumn& column : attribution.columns) columns.push_back(to_string(column));
  visit("value", single(attribution.value), {.help = "The explained number."});
  visit("columns", columns, {.help = "Names such as \"layers.0.self_attn.head.3\"."});
  visit("effects", attribution.effects,
        {.help = "One per column: how much the number falls without it. They do not sum to "
                 "`value`.",
         .with = "effects",
         .omitted = true});
  const std::vector<std::size_t> shape = {attribution.tokens, columns.size()};
  visit.tensor({"written", shape, std::move(attribution.written)},
               {.help = "[T, columns] By the row that is written. Sums to `value`."});
  visit.tensor({"read", shape, std::move(attribution.read)},
               {.help = "[T, columns] By the token that is read. Sums to `value`."});
  visit("heads", attribution.heads,
        {.help = "The columns that are heads.", .with = "loadings", .omitted = true});
  const std::vector<std::size_t> by_head = {attribution.heads.size(), columns.size()};
  if (attribution.heads.empty() && !columns.empty()) return;
  visit.tensor({"asks", by_head, std::move(attribution.asks)},
               {.help = "[heads, columns] What the head asks with: how much the number changes, "
                        "through where this head looks, with a part of its queries.",
                .with = "loadings"});
  visit.tensor(
      {"answers", by_head, std::move(attribution.answers)},
      {.help = "[heads, columns] The same with a part of its keys. 0 for a head that reads "
               "an encoder.",
       .with = "loadings"});
  visit.tensor(
      {"content", by_head, std::move(attribution.content)},
      {.help = "[heads, columns] The head's part of `value`, by what it carries on. 0 for a "
               "head that reads an encoder.",
       .with = "loadings"});
}

template <class Visit>
void fields(Visit& visit, NextLogitAttribution& result) {
  visit("token", result.token, about_explained_token);
  visit("against", result.against, about_compared_token);
  fields(visit, result.attribution);
}

/// A cell of activation patching.
struct PatchingCell {
  std::span<const std::size_t> tokens;
  bool unpaired = false;
};

template <class Visit>
void fields(Visit& visit, const PatchingCell& cell) {
  visit("tokens", cell.tokens, {.help = "The tokens of the first text."});
  visit("unpaired", cell.unpaired, {.help = "Whether the second text has nothing for them."});
}

template <class Visit>
void fields(Visit& visit, PatchingResult& result) {
  const PatchingTable& table = result.table;
  std::vector<PatchingCell> cells;
  for (std::size_t cell = 0; cell < table.cells; ++cell) {
    cells.push_back({table.members[cell], table.unpaired[cell]});
  }
  std::optional<std::size_t> done;
  if (table.done < table.values.size()) done = table.done;
  visit("donorTokens", result.donor_tokens, {.help = "The tokens of the second text."});
  visit("donorOf", result.donor_of,
        {.help = "For each token of the first text, the paired token of the second."});
  visit("baseColumns", result.base_columns,
        {.help = "The position of each token; both tokens of a pair have the same."});
  visit("donorColumns", result.donor_columns, {.help = "The same for the second text."});
  visit("cells", cells,
        {.help = "The columns of the grid: tokens or, in long texts, words or sentences."});
  visit("base", table.base, {.help = "The number of the first text, with aligned positions."});
  visit("donor", table.donor, {.help = "The number of the second."});
  visit("plainBase", table.plain_base, {.help = "The number of the first with its own positions."});
  visit("plainDonor", table.plain_donor, {.help = "The number of the second with its own."});
  visit("done", done,
        {.help = "The number of cells that are measured, row by row; the others are estimates or "
                 "not a number. Absent if all are measured."});
  const std::vector<std::size_t> shape = {table.rows, table.cells};
  TracedTensor delta = {"delta", shape, {}}, share = {"share", shape, {}};
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (std::size_t cell = 0; cell < table.cells; ++cell) {
      delta.data.push_back(table.delta(row, cell));
      if (const auto of_cell = table.share(row, cell)) share.data.push_back(*of_cell);
    }
  }
  const bool apart = share.data.size() == delta.data.size();
  visit.tensor(std::move(delta),
               {.help = "[rows, cells] The change of the number. The residual stream has L + 1 "
                        "rows, others have L."});
  if (apart) {
    visit.tensor(std::move(share),
                 {.help = "The same as a share of donor - base; absent if the two differ by less "
                          "than ½.",
                  .omitted = true});
  }
}

template <class Visit>
void fields(Visit& visit, NextPatchingResult& result) {
  visit("token", result.token,
        {.help = "By default the first token in which the outputs of the second and the first text "
                 "differ. Absent if none do; then nothing is measured."});
  visit("against", result.against, {.help = "That of the first text."});
  visit(
      "prefix", result.prefix,
      {.help = "Of a translation: the tokens that both translations begin with, before `token`."});
  fields(visit, result.patching);
}

template <class Visit>
void fields(Visit& visit, const OrderTest& test) {
  visit("score", test.score,
        {.help = "Mean of insertion minus mean of deletion. A better order has a higher score."});
  visit("deletion", test.deletion, {.help = "The number without the first words."});
  visit("insertion", test.insertion, {.help = "The number with only these."});
  visit("comprehensiveness", test.comprehensiveness);
  visit("sufficiency", test.sufficiency);
}

/// The scores of random orders, for comparison.
struct RandomOrders {
  float mean = 0, deviation = 0;
  std::span<const float> scores = {};
};

template <class Visit>
void fields(Visit& visit, const RandomOrders& random) {
  visit("mean", random.mean);
  visit("deviation", random.deviation);
  visit("scores", random.scores);
}

template <class Visit>
void fields(Visit& visit, WordFaithfulness& result) {
  const Faithfulness& test = result.result;
  visit("scores", test.tokens, {.help = "The tested score of each token."});
  visit("words", result.words, {.help = "The tokens of each word."});
  visit("value", test.full, {.help = "The explained number."});
  visit("counts", test.counts,
        {.help = "The number of words removed or inserted at each point of the curves."});
  visit("order", test.scores, {.help = "The tested order."});
  visit("leaveOneOut", test.leave_one_out,
        {.help = "An upper bound, because it uses the same operation as the test."});
  visit("losses", test.losses, {.help = "How much the number falls without each word."});
  visit("random", RandomOrders{test.random_mean(), test.random_deviation(), test.random},
        {.help = "Random orders, for comparison."});
}

template <class Visit>
void fields(Visit& visit, CutEffects& effects) {
  visit("value", effects.full, {.help = "The explained number."});
  visit("without", effects.without, {.help = "The number without all edges."});
  visit("alone", effects.alone, {.help = "The number without each single one."});
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
  std::size_t layer = 0, head = 0;
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
  visit("value", circuit.full, {.help = "The explained number."});
  visit("kept", circuit.kept, {.help = "The number with only the circuit."});
  visit("nothing", circuit.nothing, {.help = "The number with no heads."});
  visit("faithfulness", circuit.faithfulness, {.help = "`kept` / `value`."});
  visit("heads", heads);
  visit("edges", circuit.edges);
}

template <class Visit>
void fields(Visit& visit, const EdgeCircuit::Edge& edge) {
  visit("from", edge.from, {.help = "The part that adds to the stream."});
  visit("to", edge.to, {.help = "The place that reads it."});
  visit("score", edge.score,
        {.help = "What the number changes, to first order, if the edge carries what is carried "
                 "outside the circuit."});
}

template <class Visit>
void fields(Visit& visit, const EdgeCircuit::Numbers& numbers) {
  visit("value", single(numbers.clean), {.help = "The explained number of the first text."});
  visit("corrupt", single(numbers.corrupt), {.help = "The number of the second text."});
  visit("nothing", single(numbers.nothing), {.help = "The number with no edges."});
  visit("kept", single(numbers.kept), {.help = "The number with only the circuit."});
}

template <class Visit>
void fields(Visit& visit, const EdgeCircuit::Point& point) {
  visit("edges", point.edges, {.help = "How many edges are kept."});
  visit("joined", point.joined,
        {.help = "How many of those with the largest scores are on a way from the embeddings to "
                 "the logits."});
  visit("faithfulness", point.faithfulness, {.help = "Of those with the largest scores."});
  visit("random", point.random, {.help = "The mean of random circuits of this size."});
  visit("deviation", point.deviation, {.help = "Their standard deviation."});
}

template <class Visit>
void fields(Visit& visit, PairCircuit& result) {
  EdgeCircuit& circuit = result.circuit;
  visit("donorTokens", result.donor_tokens, {.help = "The tokens of the second text."});
  fields(visit, circuit.mean);
  visit("faithfulness", circuit.faithfulness,
        {.help = "(`kept` - `nothing`) / (`value` - `nothing`)."});
  visit("nodes", circuit.nodes,
        {.help = "The parts that add to a stream, such as \"decoder.layers.0.self_attn.head.3\"."});
  visit("inputs", circuit.inputs,
        {.help = "The places that read a stream, such as \"decoder.layers.1.self_attn.head.0.q\", "
                 "\"decoder.layers.1.fc1\" or \"logits\"."});
  const bool searched = !circuit.scores.empty();
  const std::vector<std::size_t> shape = {searched ? circuit.nodes.size() : 0,
                                          circuit.inputs.size()};
  visit.tensor({"scores", shape, std::move(circuit.scores)},
               {.help = "[nodes, inputs] The score of each edge; 0 where there is none."});
  visit("pairs", circuit.pairs,
        {.help = "The same numbers of each pair of texts; those above are their means."});
  visit("edges", circuit.edges,
        {.help = "Those of the circuit that are on a way from the embeddings to the logits, the "
                 "largest score first."});
  visit("curve", circuit.curve, {.help = "Circuits of growing size, beside random ones."});
  visit("area", circuit.area, {.help = "The area below the curve over the share of edges."});
  visit("randomArea", circuit.random_area, {.help = "The same of random circuits."});
}

template <class Visit>
void fields(Visit& visit, const AttributionGraph::Node& node) {
  constexpr std::array kinds = {"embedding", "feature", "error", "answer"};
  const bool feature = node.kind == AttributionGraph::Kind::feature;
  const bool answer = node.kind == AttributionGraph::Kind::answer;
  std::optional<std::size_t> number;
  std::optional<float> activation;
  if (feature) number = node.feature;
  if (feature || answer) activation = node.activation;
  visit("kind", kinds[static_cast<std::size_t>(node.kind)],
        {.help = "\"embedding\", \"feature\", \"error\" (what features leave of a feed-forward "
                 "block's output) or \"answer\"."});
  visit("name", node.name, {.help = "The tensor that it writes to, or \"logits\"."});
  visit("row", node.row, {.help = "The row of the tensor: a token."});
  visit("feature", number, {.help = "The number of the feature.", .omitted = true});
  visit("activation", activation,
        {.help = "Of a feature; of the answer, the explained number.", .omitted = true});
  visit("influence", node.influence, {.help = "On the answer: the share of all ways to it."});
}

template <class Visit>
void fields(Visit& visit, const AttributionGraph::Edge& edge) {
  visit("from", edge.from, {.help = "The number of a node."});
  visit("to", edge.to);
  visit("weight", edge.weight, {.help = "How much the one adds to what excites the other."});
  visit("influence", edge.influence, {.help = "The share of the answer's causes on this edge."});
}

template <class Visit>
void fields(Visit& visit, const AttributionGraph::Check& check) {
  visit("from", check.from, {.help = "The node whose feature is set to zero."});
  visit("to", check.to);
  visit("predicted", check.predicted, {.help = "The change by all ways of the graph."});
  visit("measured", check.measured, {.help = "The change in the model."});
}

template <class Visit>
void fields(Visit& visit, AttributionGraph& graph) {
  visit("nodes", graph.nodes, {.help = "Embeddings first, the answer last."});
  visit("edges", graph.edges, {.help = "The most influential first."});
  visit("checks", graph.checks, {.help = "Tests of edges on the model."});
  visit("correlation", graph.correlation, {.help = "Of predicted and measured changes."});
  visit("active", graph.active, {.help = "How many features are active in the text."});
  visit("explained", graph.explained, {.help = "How many of them were explained by others."});
  visit("replacement", graph.replacement,
        {.help = "The influence of embeddings as a share of that of embeddings and errors."});
  visit("completeness", graph.completeness,
        {.help = "The share of what nodes read that is not errors, by influence."});
}

template <class Visit>
void fields(Visit& visit, NextLens& lens) {
  visit(
      "layers", lens.layers,
      {.help = "Before each layer and after the last, for each token the most probable next ones, "
               "the best first."});
}

/// A token of a translation or answer, as explanations return it.
struct NamedToken {
  std::int32_t id = 0;
  std::string text = {};
};

template <class Visit>
void fields(Visit& visit, const NamedToken& token) {
  visit("id", token.id);
  visit("text", token.text);
}

/// An answer, of which a token is explained.
struct NamedTokens {
  std::string text = {};
  std::vector<NamedToken> tokens = {};
};

template <class Visit>
void fields(Visit& visit, const NamedTokens& answer) {
  visit("text", answer.text);
  visit("tokens", answer.tokens);
}

/// The translation that was read from one encoder layer.
struct LayerReading {
  std::string_view text = {};
  float score = 0;
};

template <class Visit>
void fields(Visit& visit, const LayerReading& reading) {
  visit("text", reading.text);
  visit("score", reading.score, {.help = "As the score of a translation."});
}

template <class Visit>
void sentence_fields(Visit& visit, ExplainedSentence& sentence) {
  const SentenceTranslation& of = sentence.translation;
  std::vector<NamedToken> tokens;
  for (const OutputToken& token : of.output.tokens) tokens.push_back({token.id, token.text});
  visit("start", sentence.start, {.help = "Where it is in the input."});
  visit("end", sentence.end);
  visit("text", of.output.text, {.help = "The translation."});
  visit("tokens", tokens);
  visit("sourceTokens", of.source_tokens);
}

template <class Visit>
void fields(Visit& visit, ExplainedSentence& sentence) {
  const SentenceTranslation& of = sentence.translation;
  sentence_fields(visit, sentence);
  if (!sentence.rollout.empty()) {
    const std::size_t targets = of.decoder->queries, sources = of.encoder->queries;
    visit.tensor({"rollout", {targets, targets + sources}, std::move(sentence.rollout)}, {});
  }
  if (!sentence.lens.layers.empty()) fields(visit, sentence.lens);
  if (sentence.read_from.empty()) return;
  std::vector<LayerReading> layers;
  for (const auto& [text, score] : sentence.read_from) layers.push_back({text, score});
  visit("layers", layers);
}

template <class Visit>
void fields(Visit& visit, ExplainedSentences& sentences) {
  visit.each("sentences", sentences, [&](ExplainedSentence& sentence) { fields(visit, sentence); },
             {});
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
