#include <algorithm>
#include <array>
#include <cmath>

#include "base/decimal.hpp"
#include "base/printable.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/explain/explain_work.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/reading/scores.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_orders = 1000;

constexpr std::array<std::string_view, 8> methods = {
    "rollout", "value_norms", "lens", "ledger", "transplant", "faithfulness", "edges", "circuit"};
constexpr std::array<std::string_view, 4> sites = {"residual", "attention", "feed_forward", "head"};
constexpr std::array<std::string_view, 3> orders = {"rollout", "value_norms", "ledger"};
constexpr std::array<std::string_view, 2> cuts = {"scores", "weights"};

struct ExplainOptions {
  std::string method;
  std::optional<std::string> label;
  bool effects = false;
  TransplantSite site;
  FaithfulnessOptions faithfulness;
  std::vector<AttentionEdge> edges;
  Cut cut = Cut::scores;
  float least = 0.8f;
};

std::vector<AttentionEdge> read_edges(OptionsReader& reader) {
  std::vector<AttentionEdge> edges;
  const JsonValue& array = reader.require("edges");
  if (!array.is_array()) reader.fail("edges", "an array", array);
  for (JsonEntries entry(array); entry.next();) {
    OptionsReader fields(entry.value(), "edges[" + std::to_string(edges.size()) + "]");
    edges.push_back(
        {fields.index("layer"), fields.index("head"), fields.index("query"), fields.index("key")});
    fields.finish();
  }
  if (edges.empty()) reader.fail("edges", "an array of one or more", array);
  return edges;
}

ExplainOptions read_options(const TaskOptions& task) {
  OptionsReader reader(task);
  ExplainOptions options;
  reader.require("method");
  options.method = methods[reader.choose("method", methods)];
  const auto is = [&](std::string_view method) { return options.method == method; };
  if (is("ledger") || is("transplant") || is("faithfulness") || is("edges")) {
    if (reader.find("label")) options.label = reader.string("label");
  }
  if (is("ledger")) options.effects = reader.flag("effects");
  if (is("transplant")) {
    const std::size_t kind = reader.choose("site", sites);
    options.site.kind = static_cast<TransplantSite::Kind>(kind);
    if (options.site.kind == TransplantSite::Kind::head) options.site.head = reader.index("head");
  }
  if (is("faithfulness")) {
    FaithfulnessOptions& of = options.faithfulness;
    of.label = options.label;
    of.of = orders[reader.choose("of", orders)];
    if (reader.find("scores")) of.scores = reader.numbers("scores");
    if (reader.find("orders")) {
      of.orders = static_cast<std::size_t>(reader.integer("orders", 0, most_orders));
    }
    if (reader.find("seed")) of.seed = static_cast<std::uint32_t>(reader.index("seed"));
  }
  if (is("edges")) {
    options.edges = read_edges(reader);
    options.cut = static_cast<Cut>(reader.choose("cut", cuts));
  }
  if (is("circuit") && reader.find("least")) options.least = reader.fraction("least");
  reader.finish();
  return options;
}

// The explanation of a classifier's answer to one text.
class Work : public ExplainWork {
 public:
  // `label`: of what is explained; none: the model's answer.
  Work(const ClassifierExplainer& explainer, ExplainInput input,
       const std::optional<std::string>& label = std::nullopt)
      : explainer_(explainer), input_(std::move(input)), wanted_(label) {}

  void write(ResultWriter& json) const final {
    json.field("label", explainer_.pipeline().config().labels[label()]);
    json.key("tokens");
    glassformer::write(json, explainer_.tokens_of(input_));
    json.field("clipped", input_.input.clipped);
    write_part(json);
  }

 protected:
  // What is the method's own.
  virtual void write_part(ResultWriter& json) const = 0;
  virtual std::size_t label() const { return explainer_.label_of(input_, wanted_); }

  const ExplainInput& input() const { return input_; }
  const ClassifierExplainer& explainer() const { return explainer_; }
  std::string scores_line(const std::vector<float>& scores) const {
    return line_of(explainer_.tokens_of(input_), scores);
  }

 private:
  const ClassifierExplainer& explainer_;
  ExplainInput input_;
  std::optional<std::string> wanted_;
};

template <class Indices>
void write_indices(JsonWriter& json, std::string_view name, const Indices& indices) {
  json.key(name);
  json.array(indices, [&](std::size_t index) { json.value(index); });
}

class RolloutWork final : public Work {
 public:
  using Work::Work;
  bool step() override {
    rollout_ = explainer().rollout(input());
    return false;
  }
  void write_part(ResultWriter& json) const override { glassformer::write(json, rollout_); }
  std::string line() const override { return scores_line(rollout_.scores); }

 private:
  Rollout rollout_;
};

class ValueNormsWork final : public Work {
 public:
  using Work::Work;
  bool step() override {
    norms_ = explainer().value_norms(input());
    scores_ = explainer().token_scores(input(), "value_norms");
    return false;
  }
  void write_part(ResultWriter& json) const override { glassformer::write(json, norms_, scores_); }
  std::string line() const override { return scores_line(scores_); }

 private:
  ValueNorms norms_;
  std::vector<float> scores_;
};

class LensWork final : public Work {
 public:
  using Work::Work;
  bool step() override {
    lens_ = explainer().lens(input());
    return false;
  }
  void write_part(ResultWriter& json) const override {
    json.key("layers");
    json.array([&] {
      for (std::size_t row = 0; row <= lens_.layers; ++row) {
        const std::vector<float> scores = scores_of(row);
        json.object([&] {
          json.field("label", labels()[best(scores)]);
          json.key("scores");
          write_by_label(json, labels(), [&](std::size_t label) { json.value(scores[label]); });
        });
      }
    });
    json.tensor({"logits", {lens_.layers + 1, lens_.labels}, lens_.logits});
    json.tensor(
        {"tokenLogits", {lens_.layers + 1, lens_.tokens, lens_.labels}, lens_.token_logits});
  }
  std::string line() const override {
    std::string line;
    for (std::size_t row = 0; row <= lens_.layers; ++row) {
      const std::vector<float> scores = scores_of(row);
      line.append(row > 0 ? "\t" : "").append(printable(labels()[best(scores)])).append("=");
      line += six_decimals(scores[best(scores)]);
    }
    return line;
  }

 private:
  const std::vector<std::string>& labels() const { return explainer().pipeline().config().labels; }
  static std::size_t best(const std::vector<float>& scores) { return largest(scores); }
  std::vector<float> scores_of(std::size_t row) const {
    const auto from = lens_.logits.begin() + static_cast<std::ptrdiff_t>(row * lens_.labels);
    std::vector<float> scores(from, from + static_cast<std::ptrdiff_t>(lens_.labels));
    to_scores(explainer().pipeline().config().scoring, scores);
    return scores;
  }

  Lens lens_;
};

class LedgerWork final : public Work {
 public:
  LedgerWork(const ClassifierExplainer& explainer, ExplainInput input,
             const ExplainOptions& options)
      : Work(explainer, std::move(input), options.label),
        options_{options.label, options.effects} {}

  bool step() override {
    ledger_ = explainer().ledger(input(), options_);
    return false;
  }
  void write_part(ResultWriter& json) const override { glassformer::write(json, ledger_); }
  std::string line() const override { return line_of(ledger_); }

 private:
  LedgerOptions options_;
  Ledger ledger_;
};

class TransplantWork final : public Work {
 public:
  TransplantWork(const ClassifierExplainer& explainer, ExplainInput base, ExplainInput donor,
                 const ExplainOptions& options)
      : Work(explainer, std::move(base)),
        donor_(std::move(donor)),
        transplant_(explainer.transplant(input(), donor_, {options.label, options.site})) {}

  bool step() override { return transplant_.step(); }
  std::size_t label() const override { return transplant_.table().label; }
  void write_part(ResultWriter& json) const override {
    const TransplantTable& table = transplant_.table();
    const TransplantResult result = explainer().describe(table, input(), donor_);
    json.key("donorTokens");
    glassformer::write(json, result.donor_tokens);
    json.key("donorOf");
    json.array(result.donor_of, [&](const std::optional<std::size_t>& donor) {
      donor ? json.value(*donor) : json.raw("null");
    });
    write_indices(json, "baseColumns", result.base_columns);
    write_indices(json, "donorColumns", result.donor_columns);
    json.key("cells");
    json.array([&] {
      for (std::size_t cell = 0; cell < table.cells; ++cell) {
        json.object([&] {
          write_indices(json, "tokens", table.members[cell]);
          json.field("unpaired", bool{table.unpaired[cell]});
        });
      }
    });
    write_number(json, "base", table.base);
    write_number(json, "donor", table.donor);
    write_number(json, "plainBase", table.plain_base);
    write_number(json, "plainDonor", table.plain_donor);
    const std::vector<std::size_t> shape = {table.rows, table.cells};
    TracedTensor delta = {"delta", shape, {}}, share = {"share", shape, {}};
    for (std::size_t row = 0; row < table.rows; ++row) {
      for (std::size_t cell = 0; cell < table.cells; ++cell) {
        delta.data.push_back(table.delta(row, cell));
        if (const auto of_cell = table.share(row, cell)) share.data.push_back(*of_cell);
      }
    }
    const bool apart = share.data.size() == delta.data.size();
    json.tensor(std::move(delta));
    if (apart) json.tensor(std::move(share));
  }
  // The deltas, a row after the other.
  std::string line() const override {
    const TransplantTable& table = transplant_.table();
    std::string line;
    for (std::size_t row = 0; row < table.rows; ++row) {
      line.append(row > 0 ? "\t" : "");
      for (std::size_t cell = 0; cell < table.cells; ++cell) {
        const float delta = table.delta(row, cell);
        line.append(cell > 0 ? " " : "").append(std::isnan(delta) ? "-" : six_decimals(delta));
      }
    }
    return line;
  }

 private:
  ExplainInput donor_;
  Transplant transplant_;
};

class FaithfulnessWork final : public Work {
 public:
  FaithfulnessWork(const ClassifierExplainer& explainer, ExplainInput input,
                   const ExplainOptions& options)
      : Work(explainer, std::move(input), options.label),
        test_(explainer.faithfulness(this->input(), options.faithfulness)) {}

  bool step() override {
    if (test_.step()) return true;
    result_ = test_.take();
    return false;
  }
  void write_part(ResultWriter& json) const override {
    json.key("words");
    json.array(input().words, [&](const std::vector<std::size_t>& word) {
      json.array(word, [&](std::size_t token) { json.value(token); });
    });
    write_number(json, "value", static_cast<double>(result_.full));
    write_indices(json, "counts", result_.counts);
    write_order(json, "order", result_.scores);
    write_order(json, "leaveOneOut", result_.leave_one_out);
    write_numbers(json, "losses", result_.losses);
    json.key("random");
    json.object([&] {
      json.field("mean", result_.random_mean());
      json.field("deviation", result_.random_deviation());
      write_numbers(json, "scores", result_.random);
    });
  }
  std::string line() const override {
    return "score=" + six_decimals(result_.scores.score) +
           "\tleave_one_out=" + six_decimals(result_.leave_one_out.score) +
           "\trandom=" + six_decimals(result_.random_mean()) +
           "\tdeviation=" + six_decimals(result_.random_deviation());
  }

 private:
  static void write_order(JsonWriter& json, std::string_view name, const OrderTest& test) {
    json.key(name);
    json.object([&] {
      json.field("score", test.score);
      write_numbers(json, "deletion", test.deletion);
      write_numbers(json, "insertion", test.insertion);
      write_numbers(json, "comprehensiveness", test.comprehensiveness);
      write_numbers(json, "sufficiency", test.sufficiency);
    });
  }

  FaithfulnessTest test_;
  Faithfulness result_;
};

class EdgesWork final : public Work {
 public:
  EdgesWork(const ClassifierExplainer& explainer, ExplainInput input, const ExplainOptions& options)
      : Work(explainer, std::move(input), options.label),
        edges_(options.edges),
        cut_(options.cut) {}

  bool step() override {
    effects_ = explainer().cut(input(), edges_, cut_, label());
    return false;
  }
  void write_part(ResultWriter& json) const override {
    json.field("value", effects_.full);
    json.field("without", effects_.without);
    write_numbers(json, "alone", effects_.alone);
  }
  std::string line() const override {
    return "value=" + six_decimals(effects_.full) + "\twithout=" + six_decimals(effects_.without);
  }

 private:
  std::vector<AttentionEdge> edges_;
  Cut cut_;
  CutEffects effects_;
};

class CircuitWork final : public Work {
 public:
  CircuitWork(const ClassifierExplainer& explainer, ExplainInput input, float least)
      : Work(explainer, std::move(input)), search_(explainer.circuit(this->input(), least)) {}

  bool step() override { return search_.step(); }
  std::size_t label() const override { return search_.circuit().label; }
  void write_part(ResultWriter& json) const override {
    const Circuit circuit = search_.circuit();
    json.field("value", circuit.full);
    json.field("kept", circuit.kept);
    json.field("nothing", circuit.nothing);
    json.field("faithfulness", circuit.faithfulness);
    json.key("heads");
    json.array(circuit.heads, [&](const auto& of) {
      json.object([&] {
        json.field("layer", of.first);
        json.field("head", of.second);
      });
    });
    json.key("edges");
    json.array(circuit.edges, [&](const AttentionEdge& edge) {
      json.object([&] {
        json.field("layer", edge.layer);
        json.field("head", edge.head);
        json.field("query", edge.query);
        json.field("key", edge.key);
      });
    });
  }
  std::string line() const override {
    const Circuit circuit = search_.circuit();
    return "faithfulness=" + six_decimals(circuit.faithfulness) +
           "\theads=" + std::to_string(circuit.heads.size()) +
           "\tedges=" + std::to_string(circuit.edges.size());
  }

 private:
  CircuitSearch search_;
};

class ClassifierExplainJob final : public ExplainJob {
 public:
  ClassifierExplainJob(ClassifyPipeline& pipeline, std::span<const TextInput> texts,
                       ExplainOptions options, ResultForm form)
      : ExplainJob(texts, options.method, form),
        explainer_(pipeline),
        options_(std::move(options)) {
    if (options_.label) explainer_.find_label(*options_.label);
  }

 private:
  std::unique_ptr<ExplainWork> begin(const TextInput& text) override {
    const auto is = [&](std::string_view name) { return method() == name; };
    if (is("transplant")) {
      if (!text.pair) {
        throw_error(ErrorCode::invalid_option, "pair: expected two texts to transplant, got one");
      }
      return std::make_unique<TransplantWork>(explainer_, explainer_.read(text.text),
                                              explainer_.read(*text.pair), options_);
    }
    ExplainInput input = explainer_.read(text);
    if (is("rollout")) return std::make_unique<RolloutWork>(explainer_, std::move(input));
    if (is("value_norms")) return std::make_unique<ValueNormsWork>(explainer_, std::move(input));
    if (is("lens")) return std::make_unique<LensWork>(explainer_, std::move(input));
    if (is("ledger")) return std::make_unique<LedgerWork>(explainer_, std::move(input), options_);
    if (is("faithfulness")) {
      return std::make_unique<FaithfulnessWork>(explainer_, std::move(input), options_);
    }
    if (is("edges")) return std::make_unique<EdgesWork>(explainer_, std::move(input), options_);
    return std::make_unique<CircuitWork>(explainer_, std::move(input), options_.least);
  }

  ClassifierExplainer explainer_;
  ExplainOptions options_;
};

}  // namespace

std::unique_ptr<Job> begin_explanation(ClassifyPipeline& pipeline, std::span<const TextInput> texts,
                                       const TaskOptions& options, ResultForm form) {
  return std::make_unique<ClassifierExplainJob>(pipeline, texts, read_options(options), form);
}

std::unique_ptr<Job> begin_explanation(Pipeline& pipeline, std::span<const TextInput> texts,
                                       const TaskOptions& options, ResultForm form) {
  const Task task = pipeline.config().task;
  if (task == Task::text_classification) {
    return begin_explanation(static_cast<ClassifyPipeline&>(pipeline), texts, options, form);
  }
  if (task == Task::translation) {
    return begin_explanation(static_cast<TranslatePipeline&>(pipeline), texts, options, form);
  }
  if (task == Task::text_generation) {
    return begin_explanation(static_cast<GeneratePipeline&>(pipeline), texts, options, form);
  }
  throw_error(
      ErrorCode::unsupported,
      {"explain: expected a model that classifies, translates or continues texts, got one for {}",
       {to_string(task)}});
}

}  // namespace glassformer
