#include "cli/explanation_line.hpp"

#include <cmath>

#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "explain/contrast.hpp"
#include "explain/traced.hpp"

namespace glassformer {
namespace {

std::string decimal(double number) { return six_decimals(static_cast<float>(number)); }

// The fields of a line, with tabs between them.
class LineFields {
 public:
  void add(std::string_view text) {
    line_.append(first_ ? "" : "\t").append(text);
    first_ = false;
  }
  void add(std::string_view name, double number) {
    add(std::string(name).append("=").append(decimal(number)));
  }
  std::string take() { return std::move(line_); }

 private:
  std::string line_;
  bool first_ = true;
};

std::string_view without_blank(std::string_view text) {
  return text.substr(text.starts_with(' ') ? 1 : 0);
}

// Returns the tokens of a text, or the rows of a picture: "[CLS]", then "ROW,COLUMN" for each
// patch.
std::vector<std::string> names_of(const ExplainedInput& result) {
  std::vector<std::string> names;
  for (const InputToken& token : result.tokens) {
    names.push_back(printable(without_blank(token.text)));
  }
  if (!result.grid) return names;
  names = result.grid->special;
  for (std::size_t row = 0; row < result.grid->rows; ++row) {
    for (std::size_t column = 0; column < result.grid->columns; ++column) {
      names.push_back(std::to_string(row) + "," + std::to_string(column));
    }
  }
  return names;
}

/// Adds the fields of one kind of explanation.
struct PartFields {
  const std::vector<std::string>& names;  // of each token or patch that has a score
  LineFields& line;

  void scores(const std::vector<float>& scores) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      line.add(names[i], static_cast<double>(scores[i]));
    }
  }
  void operator()(const Gradients& gradients) const {
    for (const TracedTensor& tensor : gradients.tensors) {
      line.add(tensor.name,
               std::sqrt(dot(tensor.data.data(), tensor.data.data(), tensor.data.size())));
    }
  }

  // Of most methods, the scores.
  template <class Result>
  requires requires(const Result& result) { result.scores.size(); }
  void operator()(const Result& result) const { scores(result.scores); }
  void operator()(const IntegratedGradients& gradients) const {
    line.add("value", static_cast<double>(gradients.value));
    line.add("gap", static_cast<double>(gradients.gap));
    scores(gradients.scores);
  }

  void operator()(const PropagatedRelevance& relevance) const {
    line.add("value", static_cast<double>(relevance.value));
    scores(relevance.scores);
  }

  // The answer after each layer, and its score.
  void operator()(const ScoredLens& lens) const {
    for (const ScoredLens::Layer& layer : lens.layers) {
      line.add(printable(layer.label), static_cast<double>(layer.scores[largest(layer.scores)]));
    }
  }

  // The explained number, and the sum of each column.
  void operator()(const LogitAttribution& attribution) const {
    line.add("value", attribution.value);
    for (std::size_t c = 0; c < attribution.columns.size(); ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < attribution.tokens; ++i) {
        sum += static_cast<double>(attribution.written[i * attribution.columns.size() + c]);
      }
      line.add(to_string(attribution.columns[c]), sum);
    }
  }
  void operator()(const NextLogitAttribution& next) const { (*this)(next.attribution); }
  void operator()(const SentenceLogitAttribution& sentence) const {
    (*this)(sentence.attribution.attribution);
  }

  // The effects of the cells, one row per field.
  void operator()(const PatchingResult& result) const {
    const PatchingTable& table = result.table;
    for (std::size_t row = 0; row < table.rows; ++row) {
      std::string effects;
      for (std::size_t cell = 0; cell < table.cells; ++cell) {
        const float delta = table.delta(row, cell);
        effects.append(cell > 0 ? " " : "").append(std::isnan(delta) ? "-" : six_decimals(delta));
      }
      line.add(effects);
    }
  }

  // The two tokens, then the same.
  void operator()(const NextPatchingResult& result) const {
    if (!result.token) return;
    line.add(printable(without_blank(result.token->text)));
    line.add(printable(without_blank(result.against->text)));
    (*this)(result.patching);
  }

  void operator()(const WordFaithfulness& test) const {
    line.add("score", test.result.scores.score);
    line.add("leave_one_out", test.result.leave_one_out.score);
    line.add("random", test.result.random_mean());
    line.add("deviation", test.result.random_deviation());
  }
  void operator()(const CutEffects& effects) const {
    line.add("value", effects.full);
    line.add("without", effects.without);
  }
  void operator()(const Circuit& circuit) const {
    line.add("faithfulness", circuit.faithfulness);
    line.add("heads=" + std::to_string(circuit.heads.size()));
    line.add("edges=" + std::to_string(circuit.edges.size()));
  }

  void operator()(const PairCircuit& result) const {
    const EdgeCircuit& circuit = result.circuit;
    line.add("value", circuit.mean.clean);
    line.add("corrupt", circuit.mean.corrupt);
    line.add("faithfulness", static_cast<double>(circuit.faithfulness));
    line.add("edges=" + std::to_string(circuit.edges.size()));
    for (const EdgeCircuit::Edge& edge : circuit.edges) {
      line.add(edge.from + " > " + edge.to, static_cast<double>(edge.score));
    }
  }

  void operator()(const AttributionGraph& graph) const {
    line.add("replacement", static_cast<double>(graph.replacement));
    line.add("completeness", static_cast<double>(graph.completeness));
    line.add("correlation", static_cast<double>(graph.correlation));
    const auto name = [&graph](std::size_t i) {
      const AttributionGraph::Node& node = graph.nodes[i];
      std::string text = node.name + "[" + std::to_string(node.row) + "]";
      if (node.kind == AttributionGraph::Kind::feature) text += "." + std::to_string(node.feature);
      if (node.kind == AttributionGraph::Kind::error) text += ".error";
      return text;
    };
    for (const AttributionGraph::Edge& edge : graph.edges) {
      line.add(name(edge.from) + " > " + name(edge.to), static_cast<double>(edge.weight));
    }
  }

  // The most probable next word after each layer, and its probability.
  void operator()(const NextLens& lens) const {
    for (const std::vector<std::vector<Guess>>& rows : lens.layers) {
      const Guess& guess = rows.back()[0];
      line.add(printable(without_blank(guess.text)), static_cast<double>(std::exp(guess.logprob)));
    }
  }

  // For a rollout: each token, and how much of it comes from the source. For a lens: the text that
  // each layer gives.
  void operator()(const ExplainedSentences& sentences) const {
    for (const ExplainedSentence& sentence : sentences) {
      const SentenceTranslation& of = sentence.translation;
      const std::vector<OutputToken>& written = of.output.tokens;
      for (std::size_t t = 0; !sentence.rollout.empty() && t < written.size(); ++t) {
        const std::size_t targets = of.decoder->queries, columns = targets + of.encoder->queries;
        float source = 0;
        for (std::size_t c = targets; c < columns; ++c) source += sentence.rollout[t * columns + c];
        line.add(std::string(without_blank(written[t].text)) + "=" + six_decimals(source));
      }
      for (const std::string& reading : sentence.readings) line.add(reading);
      for (const auto& [text, score] : sentence.read_from) line.add(text);
    }
  }
};

}  // namespace

OutputLine explanation_line(const ExplainedInput& result) {
  LineFields line;
  const std::vector<std::string> names = names_of(result);
  std::visit(PartFields{names, line}, result.part);
  return {line.take()};
}

OutputLine next_gradients_line(const NextGradients& result) {
  LineFields line;
  std::vector<std::string> names;
  for (const std::string& row : result.rows) names.push_back(printable(without_blank(row)));
  std::visit(PartFields{names, line}, result.part);
  return {line.take()};
}

OutputLine score_line(const ScoreExplanation& result) {
  const ScoreAttribution& of = result.attribution;
  LineFields line;
  line.add("score", of.score);
  line.add("weight", static_cast<double>(of.weight));
  for (const ScorePart& part : of.queries) line.add("query." + part.name, part.sum);
  for (const ScorePart& part : of.keys) line.add("key." + part.name, part.sum);
  return {line.take()};
}

OutputLine features_line(const FeatureExplanation& result) {
  LineFields line;
  for (const TextFeatures& of : result.dictionaries) {
    for (std::size_t row = 0; row < of.rows.size(); ++row) {
      std::string features = of.name + "[" + std::to_string(row) + "]";
      for (const ActiveFeature& each : of.rows[row]) {
        features += " " + std::to_string(each.feature) + "=" + six_decimals(each.activation);
      }
      line.add(features);
    }
  }
  return {line.take()};
}

}  // namespace glassformer
