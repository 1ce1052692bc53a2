#include "explain/dictionaries/attribution_graph.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <numeric>

#include "explain/gradients.hpp"
#include "explain/traced.hpp"
#include "kernels/kernels.hpp"
#include "kernels/learning.hpp"
#include "run/trace/named_tracer.hpp"

namespace glassformer {
namespace {

using Kind = AttributionGraph::Kind;

constexpr std::size_t expanded_at_once = 16;

float product(std::span<const float> a, std::span<const float> b) {
  return learning_kernels().dot(a.data(), b.data(), a.size());
}

// A feed-forward block of the model, with or without a dictionary, or what a stack reads.
struct Site {
  std::string name;        // of the tensor that it writes
  std::string reads = {};  // empty without a dictionary
  const Dictionary* dictionary = nullptr;
  std::size_t width = 0;
  std::vector<float> x = {}, y = {};                    // [N, D]
  std::vector<float> gradient = {};                     // of what is led back, with respect to y
  const float* input = nullptr;                         // x on the tape
  std::size_t steps = 0;                                // of the tape before x was read
  std::vector<std::vector<ActiveFeature>> active = {};  // of each row
  std::vector<float> errors = {};                       // [N, D]; of embeddings, y

  std::size_t rows() const { return y.size() / width; }
  std::span<const float> row(const std::vector<float>& of, std::size_t i) const {
    return std::span(of).subspan(i * width, width);
  }
};

// Copies the rows of sites in a run. With a tape, also their gradients, and stops there:
// feed-forward blocks are not led back through.
class SiteTracer final : public NamedTracer {
 public:
  explicit SiteTracer(std::deque<Site>& sites, Tape* tape = nullptr) : sites_(sites), tape_(tape) {}

  // Adds numbers [D] to a row of a site.
  struct Change {
    const Site* site;
    std::size_t row;
    std::span<const float> direction;
    float factor;
  };
  void change(const Change& change) { change_ = change; }

  bool wants(std::string_view name) const override {
    const std::string full = full_name(name);
    return std::ranges::any_of(
        sites_, [&](const Site& site) { return site.name == full || site.reads == full; });
  }

  void done(std::string_view name, const CompleteRows& rows) override {
    const std::string full = full_name(name);
    for (Site& site : sites_) {
      if (site.reads == full) {
        copy_rows(rows, site.x);
        site.input = rows.data;
        if (tape_) site.steps = tape_->steps();
      }
      if (site.name != full) continue;
      if (change_.site == &site && change_.row >= rows.first &&
          change_.row < rows.first + rows.count) {
        kernels().add_scaled(rows.data + (change_.row - rows.first) * rows.stride,
                             change_.direction.data(), rows.columns, change_.factor);
      }
      copy_rows(rows, site.y);
      if (tape_) stop(site, rows);
    }
  }

 private:
  void stop(Site& site, const CompleteRows& rows) {
    site.gradient.resize(site.y.size());
    tape_->record([&site, rows](Tape& tape) {
      for (std::size_t i = 0; i < rows.count; ++i) {
        float* const gradient = tape.gradient(rows.data + i * rows.stride);
        std::copy_n(gradient, rows.columns, site.gradient.data() + (rows.first + i) * rows.columns);
        set_to_zero({gradient, rows.columns});
      }
    });
  }

  std::deque<Site>& sites_;
  Tape* tape_;
  Change change_ = {};
};

// Sorts numbers of entries by a value of each, the largest first.
void sort_by(const std::vector<double>& value, std::vector<std::size_t>& indices) {
  std::ranges::stable_sort(indices, std::greater(), [&](std::size_t i) { return value[i]; });
}

// A node, before the graph is pruned.
struct Entry {
  Kind kind;
  std::size_t site, row;
  ActiveFeature feature = {0, 0};
};

}  // namespace

class AttributionGraphSearch::Builder {
 public:
  Builder(const WriterRunner& model, const DecodedText& text, const Contrast& contrast,
          const DictionarySet& dictionaries, const AttributionGraphOptions& options)
      : model_(model),
        text_(text),
        contrast_(contrast),
        options_(options),
        none_(),
        pass_(text_.pass({&none_, 1})) {
    expect_gradients(model_->compute());
    if (text.source) add_stack(model.translator().encoder().stack().config(), "encoder");
    add_stack(model->decoder().stack().config(), "decoder");
    for (std::size_t i = 0; i < dictionaries.size(); ++i) add(dictionaries[i]);
  }

  bool step();
  AttributionGraph take();

 private:
  void add_stack(const StackConfig& stack, const std::string& name);
  void add(const Dictionary& dictionary);
  void collect();
  // Leads a node back. Returns how much each entry adds to it.
  std::vector<float> causes(std::size_t entry);
  std::size_t steps_before(const Entry& entry) const;
  bool expand();
  // The influence of all entries on the answer, given who causes what.
  std::vector<double> influence(const std::vector<bool>& kept) const;
  void prune();
  bool check();
  float predicted(std::size_t from, std::size_t to) const;
  float measured(std::size_t from, std::size_t to) const;
  void score();
  double value_of(const Entry& entry, const std::deque<Site>& sites,
                  std::span<const float> logits) const;

  const WriterRunner model_;
  const DecodedText text_;
  const Contrast& contrast_;
  const AttributionGraphOptions options_;
  const std::vector<std::size_t> none_;
  const WholePass pass_;
  std::deque<Site> sites_;                  // in the order of the pass; those of embeddings, too
  std::vector<Entry> entries_;              // in the order of the pass; the answer last
  std::vector<std::vector<float>> causes_;  // of each entry; empty: it was not led back
  std::size_t led_back_ = 0;
  std::unique_ptr<Tape> tape_;
  float* logits_ = nullptr;
  std::vector<float> answer_logits_;
  AttributionGraph graph_;
  std::vector<std::size_t> graph_entries_;  // of its nodes
  std::size_t next_edge_ = 0;               // to test
};

void AttributionGraphSearch::Builder::add_stack(const StackConfig& stack, const std::string& name) {
  expect_rules(stack, BackwardRules::cp_lrp);
  sites_.push_back({.name = name + ".layers.0.input", .width = stack.d_model});
  for (std::size_t layer = 0; layer < stack.layers.size(); ++layer) {
    sites_.push_back({.name = layer_name(name, layer, "fc2"), .width = stack.d_model});
  }
}

void AttributionGraphSearch::Builder::add(const Dictionary& dictionary) {
  const DictionaryConfig& config = dictionary.config();
  if (config.kind != DictionaryKind::transcoder) {
    throw_error(ErrorCode::unsupported,
                {"attribution_graph: expected transcoders, got a sparse autoencoder of {}",
                 {config.writes}});
  }
  const auto found = std::ranges::find(sites_, config.writes, &Site::name);
  if (found == sites_.end() || found->width != config.d_model) {
    throw_error(ErrorCode::invalid_config,
                {"dictionary: expected one of a feed-forward block of this model, with {} numbers, "
                 "got one of {} with {}",
                 {sites_.back().width, config.writes, config.d_model}});
  }
  found->dictionary = &dictionary;
  found->reads = config.reads;
}

void AttributionGraphSearch::Builder::collect() {
  tape_ = make_linked_tape(model_.session.arena);
  tape_->start(nullptr);
  tape_->rules = BackwardRules::cp_lrp;
  SiteTracer tracer(sites_, tape_.get());
  Run run(model_.session, &tracer);
  run.record(*tape_);
  const View logits = run_pass(model_, text_, pass_, run);
  logits_ = logits.data();
  answer_logits_.assign(logits.data(), logits.data() + logits.size());
  expect_finite(answer_logits_);
  Session session;
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    Site& site = sites_[s];
    site.errors = site.y;
    const bool embeddings = site.name.ends_with(".input");
    if (site.dictionary) {
      site.active =
          site.dictionary->active(const_view(site.x.data(), {site.rows(), site.width}), session);
    }
    std::vector<float> written(site.width);
    for (std::size_t row = 0; row < site.rows(); ++row) {
      if (site.dictionary) {
        site.dictionary->write(site.active[row], written);
        kernels().add_scaled(site.errors.data() + row * site.width, written.data(), site.width,
                             -1.0f);
        for (const ActiveFeature& each : site.active[row]) {
          entries_.push_back({Kind::feature, s, row, each});
        }
      }
      entries_.push_back({embeddings ? Kind::embedding : Kind::error, s, row});
    }
  }
  entries_.push_back({Kind::answer, sites_.size(), text_.ids.size() - 1});
}

std::size_t AttributionGraphSearch::Builder::steps_before(const Entry& entry) const {
  return entry.kind == Kind::answer ? tape_->steps() : sites_[entry.site].steps;
}

std::vector<float> AttributionGraphSearch::Builder::causes(std::size_t index) {
  const Entry& entry = entries_[index];
  tape_->turn();
  for (Site& site : sites_) set_to_zero(site.gradient);
  if (entry.kind == Kind::answer) {
    for (const AnswerTerm& term : terms_of(contrast_, 0)) {
      *tape_->gradient(logits_ + term.column) += term.weight;
    }
  } else {
    const Site& site = sites_[entry.site];
    float* const gradient = tape_->gradient(site.input + entry.row * site.width);
    std::vector<float> weights(site.width);
    site.dictionary->encoder().copy_output(entry.feature.feature, weights);
    kernels().add_scaled(gradient, weights.data(), site.width, 1.0f);
  }
  tape_->rewind_first(steps_before(entry));
  std::vector<float> causes(entries_.size());
  for (std::size_t i = 0; i < index && entries_[i].site < entry.site; ++i) {
    const Entry& from = entries_[i];
    const Site& site = sites_[from.site];
    const std::span<const float> gradient = site.row(site.gradient, from.row);
    causes[i] = from.kind == Kind::feature
                    ? from.feature.activation *
                          product(site.dictionary->direction(from.feature.feature), gradient)
                    : product(site.row(site.errors, from.row), gradient);
  }
  expect_finite(causes);
  return causes;
}

std::vector<double> AttributionGraphSearch::Builder::influence(
    const std::vector<bool>& kept) const {
  std::vector<double> influence(entries_.size());
  influence.back() = 1;
  for (std::size_t index = entries_.size(); index-- > 0;) {
    const std::vector<float>& causes = causes_[index];
    if (causes.empty() || influence[index] <= 0 || !kept[index]) continue;
    double total = 0;
    for (std::size_t i = 0; i < index; ++i) {
      if (kept[i]) total += static_cast<double>(std::abs(causes[i]));
    }
    if (total <= 0) continue;
    for (std::size_t i = 0; i < index; ++i) {
      if (!kept[i]) continue;
      influence[i] += influence[index] * static_cast<double>(std::abs(causes[i])) / total;
    }
  }
  return influence;
}

// Leads back some more features, those with the most influence so far. Returns whether any is left.
bool AttributionGraphSearch::Builder::expand() {
  const std::vector<double> now = influence(std::vector<bool>(entries_.size(), true));
  std::vector<std::size_t> next;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].kind == Kind::feature && now[i] > 0 && causes_[i].empty()) next.push_back(i);
  }
  sort_by(now, next);
  const std::size_t left = options_.features - led_back_;
  next.resize(std::min({next.size(), expanded_at_once, left}));
  for (const std::size_t i : next) causes_[i] = causes(i);
  led_back_ += next.size();
  return !next.empty() && led_back_ < options_.features;
}

void AttributionGraphSearch::Builder::score() {
  const std::vector<double> influence = this->influence(std::vector<bool>(entries_.size(), true));
  double embeddings = 0, others = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].kind == Kind::embedding) embeddings += influence[i];
    const bool left = entries_[i].kind == Kind::feature && causes_[i].empty();
    if (entries_[i].kind == Kind::error || left) others += influence[i];
  }
  graph_.replacement = static_cast<float>(embeddings / (embeddings + others));
  double whole = 0, weights = 0;
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    const std::vector<float>& causes = causes_[index];
    if (causes.empty()) continue;
    double errors = 0, total = 0;
    for (std::size_t i = 0; i < index; ++i) {
      const double size = static_cast<double>(std::abs(causes[i]));
      total += size;
      if (entries_[i].kind == Kind::error) errors += size;
    }
    weights += influence[index];
    if (total > 0) whole += influence[index] * (1 - errors / total);
  }
  graph_.completeness = static_cast<float>(whole / weights);
}

namespace {

// Keeps the first entries, by value, that have this share of the sum.
std::vector<std::size_t> largest(std::vector<std::size_t> indices, const std::vector<double>& value,
                                 float share) {
  sort_by(value, indices);
  double total = 0, sum = 0;
  for (const std::size_t i : indices) total += value[i];
  std::size_t count = 0;
  while (count < indices.size() && sum < static_cast<double>(share) * total) {
    sum += value[indices[count++]];
  }
  indices.resize(count);
  return indices;
}

}  // namespace

void AttributionGraphSearch::Builder::prune() {
  const std::size_t answer = entries_.size() - 1;
  const std::vector<double> before = influence(std::vector<bool>(entries_.size(), true));
  std::vector<std::size_t> candidates;
  std::vector<bool> kept(entries_.size());
  for (std::size_t i = 0; i < answer; ++i) {
    const bool led_back = entries_[i].kind != Kind::feature || !causes_[i].empty();
    if (entries_[i].kind == Kind::embedding) {
      kept[i] = true;
    } else if (led_back) {
      candidates.push_back(i);
    }
  }
  for (const std::size_t i : largest(std::move(candidates), before, options_.nodes)) kept[i] = true;
  kept[answer] = true;

  const std::vector<double> now = influence(kept);
  struct Way {
    std::size_t from, to;
    float weight;
  };
  std::vector<Way> ways;
  std::vector<double> shares;
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    const std::vector<float>& causes = causes_[index];
    if (causes.empty() || !kept[index]) continue;
    double total = 0;
    for (std::size_t i = 0; i < index; ++i) {
      if (kept[i]) total += static_cast<double>(std::abs(causes[i]));
    }
    for (std::size_t i = 0; i < index; ++i) {
      if (!kept[i] || causes[i] == 0) continue;
      ways.push_back({i, index, causes[i]});
      shares.push_back(now[index] * static_cast<double>(std::abs(causes[i])) / total);
    }
  }
  std::vector<std::size_t> order(ways.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  order = largest(std::move(order), shares, options_.edges);
  // Only what is on a way to the answer.
  std::vector<bool> leads(entries_.size());
  leads[answer] = true;
  std::vector<double> targets;
  for (const Way& way : ways) targets.push_back(static_cast<double>(way.to));
  std::vector<std::size_t> by_target = order;
  sort_by(targets, by_target);
  for (const std::size_t i : by_target) {
    if (leads[ways[i].to]) leads[ways[i].from] = true;
  }
  std::vector<std::size_t> number(entries_.size());
  for (const bool embeddings : {true, false}) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (!leads[i] || (entry.kind == Kind::embedding) != embeddings) continue;
      number[i] = graph_.nodes.size();
      graph_entries_.push_back(i);
      const bool is_answer = entry.kind == Kind::answer;
      graph_.nodes.push_back(
          {.kind = entry.kind,
           .name = is_answer ? "logits" : sites_[entry.site].name,
           .row = entry.row,
           .feature = entry.feature.feature,
           .activation = is_answer ? static_cast<float>(contrast_.of(answer_logits_.data()))
                                   : entry.feature.activation,
           .influence = static_cast<float>(before[i])});
    }
  }
  for (const std::size_t i : order) {
    const Way& way = ways[i];
    if (!leads[way.to]) continue;
    graph_.edges.push_back(
        {number[way.from], number[way.to], way.weight, static_cast<float>(shares[i])});
  }
}

double AttributionGraphSearch::Builder::value_of(const Entry& entry, const std::deque<Site>& sites,
                                                 std::span<const float> logits) const {
  if (entry.kind == Kind::answer) return contrast_.of(logits.data());
  const Site& site = sites[entry.site];
  std::vector<float> weights(site.width);
  site.dictionary->encoder().copy_output(entry.feature.feature, weights);
  return dot(weights.data(), site.x.data() + entry.row * site.width, site.width);
}

float AttributionGraphSearch::Builder::predicted(std::size_t from, std::size_t to) const {
  std::vector<double> change(entries_.size());  // of each feature, by its activation
  change[from] = -1;
  const auto change_of = [&](const std::vector<float>& causes, std::size_t index) {
    double sum = 0;
    for (std::size_t i = from; i < index; ++i) sum += change[i] * static_cast<double>(causes[i]);
    return sum;
  };
  for (std::size_t index = from + 1; index < to; ++index) {
    const std::vector<float>& causes = causes_[index];
    if (causes.empty()) continue;
    change[index] =
        change_of(causes, index) / static_cast<double>(entries_[index].feature.activation);
  }
  return static_cast<float>(change_of(causes_[to], to));
}

float AttributionGraphSearch::Builder::measured(std::size_t from, std::size_t to) const {
  const Entry &source = entries_[from], &target = entries_[to];
  std::deque<Site> sites;  // of another run
  for (const Site& site : sites_) {
    sites.push_back({.name = site.name,
                     .reads = site.reads,
                     .dictionary = site.dictionary,
                     .width = site.width});
  }
  SiteTracer tracer(sites);
  const Site& site = sites[source.site];
  tracer.change({.site = &site,
                 .row = source.row,
                 .direction = site.dictionary->direction(source.feature.feature),
                 .factor = -source.feature.activation});
  model_.session.arena.clear();
  Run run(model_.session, &tracer);
  const View logits = run_pass(model_, text_, pass_, run);
  const double after = value_of(target, sites, {logits.data(), logits.size()});
  return static_cast<float>(after - value_of(target, sites_, answer_logits_));
}

namespace {

double correlation(const std::vector<AttributionGraph::Check>& checks) {
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  const double n = static_cast<double>(checks.size());
  for (const auto& check : checks) {
    const double a = static_cast<double>(check.predicted), b = static_cast<double>(check.measured);
    x += a / n;
    y += b / n;
    xx += a * a / n;
    yy += b * b / n;
    xy += a * b / n;
  }
  const double spread = std::sqrt((xx - x * x) * (yy - y * y));
  return spread > 0 ? (xy - x * y) / spread : 0;
}

}  // namespace

// Tests the next edge from a feature. Returns whether any is left.
bool AttributionGraphSearch::Builder::check() {
  tape_.reset();  // what it holds is not needed any more
  while (graph_.checks.size() < options_.checked && next_edge_ < graph_.edges.size()) {
    const AttributionGraph::Edge& edge = graph_.edges[next_edge_++];
    if (graph_.nodes[edge.from].kind != Kind::feature) continue;
    const std::size_t from = graph_entries_[edge.from], to = graph_entries_[edge.to];
    graph_.checks.push_back({edge.from, edge.to, predicted(from, to), measured(from, to)});
    return true;
  }
  return false;
}

bool AttributionGraphSearch::Builder::step() {
  if (entries_.empty()) {
    collect();
    causes_.resize(entries_.size());
    causes_.back() = causes(entries_.size() - 1);
    return true;
  }
  if (!graph_.nodes.empty()) return check();
  if (expand()) return true;
  for (const Entry& entry : entries_) graph_.active += entry.kind == Kind::feature;
  graph_.explained = led_back_;
  score();
  prune();
  return true;
}

AttributionGraph AttributionGraphSearch::Builder::take() {
  graph_.correlation = static_cast<float>(correlation(graph_.checks));
  return std::move(graph_);
}

AttributionGraphSearch::AttributionGraphSearch(const WriterRunner& model, const DecodedText& text,
                                               const Contrast& contrast,
                                               const DictionarySet& dictionaries,
                                               const AttributionGraphOptions& options)
    : builder_(std::make_unique<Builder>(model, text, contrast, dictionaries, options)) {}

AttributionGraphSearch::~AttributionGraphSearch() = default;

bool AttributionGraphSearch::step() { return builder_->step(); }

AttributionGraph AttributionGraphSearch::take() { return builder_->take(); }

}  // namespace glassformer
