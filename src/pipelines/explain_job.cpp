#include <algorithm>
#include <array>
#include <cmath>

#include "io/decimal.hpp"
#include "pipelines/explain.hpp"
#include "pipelines/result_writer.hpp"
#include "pipelines/scores.hpp"
#include "pipelines/translate.hpp"

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
  if (is("ledger") || is("transplant") || is("faithfulness")) {
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

std::string decimal(double number) { return six_decimals(static_cast<float>(number)); }

// One text's explanation on its way.
class Work {
 public:
  Work(const ClassifierExplainer& explainer, ExplainInput input)
      : explainer_(explainer), input_(std::move(input)) {}
  virtual ~Work() = default;

  // Does the next piece; returns whether any is left.
  virtual bool step() = 0;
  // The fields behind {method, label, tokens, clipped.
  virtual void write(ResultWriter& json) const = 0;
  virtual std::string line() const = 0;
  virtual std::size_t label() const { return explainer_.answer(input_); }

  const ExplainInput& input() const { return input_; }

 protected:
  const ClassifierExplainer& explainer() const { return explainer_; }
  // "film=0.123456", of every token, tabs between.
  std::string line_of(const std::vector<float>& scores) const {
    const std::vector<InputToken> tokens = explainer_.tokens_of(input_);
    std::string line;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::size_t blank = tokens[i].text.starts_with(' ') ? 1 : 0;
      line.append(i > 0 ? "\t" : "").append(tokens[i].text, blank).append("=");
      line += decimal(static_cast<double>(scores[i]));
    }
    return line;
  }

 private:
  const ClassifierExplainer& explainer_;
  ExplainInput input_;
};

void write_numbers(JsonWriter& json, std::string_view name, const std::vector<float>& numbers) {
  json.key(name);
  json.array(numbers, [&](float number) { json.value(number); });
}

void write_number(JsonWriter& json, std::string_view name, double number) {
  json.field(name, static_cast<float>(number));
}

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
  void write(ResultWriter& json) const override {
    write_numbers(json, "scores", rollout_.scores);
    const std::size_t tokens = input().text.tokens();
    json.tensor({"rollout", {tokens, tokens}, rollout_.matrix});
  }
  std::string line() const override { return line_of(rollout_.scores); }

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
  void write(ResultWriter& json) const override {
    write_numbers(json, "scores", scores_);
    json.tensor(to_tensor("heads", norms_.heads));
    json.tensor(to_tensor("layers", norms_.layers));
  }
  std::string line() const override { return line_of(scores_); }

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
  void write(ResultWriter& json) const override {
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
      line.append(row > 0 ? "\t" : "").append(labels()[best(scores)]).append("=");
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
      : Work(explainer, std::move(input)), options_{options.label, options.effects} {}

  bool step() override {
    ledger_ = explainer().ledger(input(), options_);
    return false;
  }
  std::size_t label() const override {
    return options_.label ? explainer().find_label(*options_.label) : Work::label();
  }
  void write(ResultWriter& json) const override {
    write_number(json, "value", ledger_.value);
    json.key("columns");
    json.array(ledger_.columns, [&](const LedgerColumn& column) { json.value(to_string(column)); });
    if (!ledger_.effects.empty()) write_numbers(json, "effects", ledger_.effects);
    const std::vector<std::size_t> shape = {ledger_.tokens, ledger_.columns.size()};
    json.tensor({"written", shape, ledger_.written});
    json.tensor({"read", shape, ledger_.read});
  }
  std::string line() const override {
    std::string line = "value=" + decimal(ledger_.value);
    for (std::size_t c = 0; c < ledger_.columns.size(); ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < ledger_.tokens; ++i) {
        sum += static_cast<double>(ledger_.written[i * ledger_.columns.size() + c]);
      }
      line.append("\t").append(to_string(ledger_.columns[c])).append("=").append(decimal(sum));
    }
    return line;
  }

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
  void write(ResultWriter& json) const override {
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
      : Work(explainer, std::move(input)),
        label_(options.label),
        test_(explainer.faithfulness(this->input(), options.faithfulness)) {}

  bool step() override {
    if (test_.step()) return true;
    result_ = test_.take();
    return false;
  }
  std::size_t label() const override {
    return label_ ? explainer().find_label(*label_) : Work::label();
  }
  void write(ResultWriter& json) const override {
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

  std::optional<std::string> label_;
  FaithfulnessTest test_;
  Faithfulness result_;
};

class EdgesWork final : public Work {
 public:
  EdgesWork(const ClassifierExplainer& explainer, ExplainInput input, const ExplainOptions& options)
      : Work(explainer, std::move(input)), edges_(options.edges), cut_(options.cut) {}

  bool step() override {
    effects_ = explainer().cut(input(), edges_, cut_);
    return false;
  }
  void write(ResultWriter& json) const override {
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
  void write(ResultWriter& json) const override {
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

class ExplainJob final : public Job {
 public:
  ExplainJob(ClassifyPipeline& pipeline, std::span<const TextInput> texts, ExplainOptions options,
             ResultForm form)
      : explainer_(pipeline), options_(std::move(options)), form_(form) {
    if (options_.label) explainer_.find_label(*options_.label);
    for (const TextInput& text : texts) {
      texts_.emplace_back(text.text,
                          text.pair ? std::optional<std::string>(*text.pair) : std::nullopt);
    }
  }

  bool step() override {
    if (outcomes_.size() == texts_.size()) return false;
    try {
      if (!work_) work_ = begin(texts_[outcomes_.size()]);
      if (!work_->step()) {
        outcomes_.emplace_back(result());
        work_.reset();
      }
    } catch (const Error& error) {
      outcomes_.emplace_back(error);
      work_.reset();
    }
    return outcomes_.size() < texts_.size();
  }

  std::vector<Outcome> end() override { return std::move(outcomes_); }

 private:
  using Text = std::pair<std::string, std::optional<std::string>>;

  std::unique_ptr<Work> begin(const Text& text) const {
    const auto is = [&](std::string_view method) { return options_.method == method; };
    if (is("transplant")) {
      if (!text.second) {
        throw_error(ErrorCode::invalid_option, "pair: expected two texts to transplant, got one");
      }
      return std::make_unique<TransplantWork>(explainer_, explainer_.read(text.first),
                                              explainer_.read(*text.second), options_);
    }
    ExplainInput input =
        explainer_.read(text.second ? TextInput(text.first, *text.second) : TextInput(text.first));
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

  Result result() const {
    if (is_line(form_)) return {work_->line()};
    ResultWriter json(form_);
    json.object([&] {
      json.field("method", options_.method);
      json.field("label", explainer_.pipeline().config().labels[work_->label()]);
      json.key("tokens");
      write(json, explainer_.tokens_of(work_->input()));
      json.field("clipped", work_->input().input.clipped);
      work_->write(json);
    });
    return json.take_result();
  }

  ClassifierExplainer explainer_;
  ExplainOptions options_;
  ResultForm form_;
  std::vector<Text> texts_;
  std::unique_ptr<Work> work_;
  std::vector<Outcome> outcomes_;
};

}  // namespace

std::unique_ptr<Job> begin_explanation(ClassifyPipeline& pipeline, std::span<const TextInput> texts,
                                       const TaskOptions& options, ResultForm form) {
  return std::make_unique<ExplainJob>(pipeline, texts, read_options(options), form);
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
  throw_error(ErrorCode::unsupported,
              {"explain: expected a model that classifies or translates texts, got one for {}",
               {to_string(task)}});
}

}  // namespace glassformer
