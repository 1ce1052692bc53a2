#include "tasks/explain/next/next_circuit.hpp"

#include <algorithm>
#include <utility>

#include "explain/circuits/edge_circuit.hpp"
#include "tasks/explain/explanation_job.hpp"
#include "tasks/explain/next/next_patching.hpp"
#include "tasks/limits.hpp"

namespace glassformer {
namespace {

// Two texts, read up to a next token.
struct ReadPair {
  NextSubject clean, corrupt;
};

ReadPair read_pair(Pipeline& pipeline, const TextInput& text, const AskedNext& asked) {
  const std::string_view other = expect_donor(text);
  // Only the source of the corrupt text counts, so any place in its answer will do.
  TranslatedPlace begin = asked.place;
  begin.position = 0;
  begin.prefix.clear();
  ReadPair read = {read_to_next(pipeline, text.text, asked.place),
                   read_to_next(pipeline, other, begin)};
  const ExplainOptions& options = asked.request.options;
  if (!read.clean.before.sentence || options.position || !options.prefix.empty()) return read;
  // By default, the first token in which both translations differ.
  const auto& own = read.clean.before.sentence->translation.output.tokens;
  const auto& others = read.corrupt.before.sentence->translation.output.tokens;
  TranslatedPlace place = asked.place;
  while (place.position + 1 < std::min(own.size(), others.size()) &&
         own[place.position].id == others[place.position].id) {
    ++place.position;
  }
  if (place.position == asked.place.position) return read;
  return {read_to_next(pipeline, text.text, place), std::move(read.corrupt)};
}

// Two texts, and the tokens whose lead is explained.
class ComparedTexts {
 public:
  ComparedTexts(Pipeline& pipeline, const TextInput& text, const AskedNext& asked,
                NextAttributionOptions tokens)
      : read_(read_pair(pipeline, text, asked)), lead_(read_.clean, compared(std::move(tokens))) {}
  ComparedTexts(const ComparedTexts&) = delete;  // the lead refers to the text
  ComparedTexts& operator=(const ComparedTexts&) = delete;

  CircuitSubject subject() const {
    return {circuit_texts(read_.clean.model, read_.clean.text(), corrupt_text()), lead_.contrast()};
  }
  const NextLead& lead() const { return lead_; }
  NextSubject& clean() { return read_.clean; }

  std::vector<InputToken> corrupt_tokens() const {
    const ReadBefore& before = read_.corrupt.before;
    return before.sentence ? before.sentence->translation.source_tokens : before.tokens;
  }

  // What nodes add to both texts, and the gradient of each input.
  std::uint64_t numbers() const {
    std::uint64_t parts = 2;
    const auto add = [&parts](const StackConfig& config, std::size_t attentions) {
      parts += saturating_product({config.layers.size(), 1 + attentions * config.n_heads()});
    };
    const WriterRunner& model = read_.clean.model;
    const StackConfig& config = model->decoder().stack().config();
    add(config, read_.clean.encoded ? 2 : 1);
    if (read_.clean.encoded) add(model.translator().encoder().stack().config(), 1);
    return saturating_product({6, parts, read_.clean.text().tokens(), config.d_model});
  }

 private:
  // The corrupt text, after the same tokens of a translation or an answer.
  DecodedText corrupt_text() const {
    if (!read_.clean.encoded) return read_.corrupt.text();
    return {read_.clean.decoded, &*read_.corrupt.encoded};
  }

  // By default, the token is compared with the corrupt text's likeliest.
  NextAttributionOptions compared(NextAttributionOptions tokens) const {
    if (tokens.against) return tokens;
    const NextSubject& clean = read_.clean;
    const std::vector<float> own = run_to_next_token(clean.model, clean.text(), {}).logits;
    const std::vector<float> other =
        run_to_next_token(read_.corrupt.model, corrupt_text(), {}).logits;
    const std::size_t vocabulary = clean.attributions.vocabulary();
    const NextAttributionOptions parting =
        parting_tokens(std::span(other).first(vocabulary), std::span(own).first(vocabulary));
    if (!tokens.token) tokens.token = clean.own ? clean.own : parting.token;
    if (parting.against != tokens.token) tokens.against = parting.against;
    return tokens;
  }

  ReadPair read_;
  NextLead lead_;
};

// Reads one pair after the other, and then searches.
class NextCircuitSteps final : public NextSteps {
 public:
  NextCircuitSteps(Pipeline& pipeline, const TextInput& text, const AskedNext& asked)
      : pipeline_(pipeline), asked_(asked) {
    read(text, asked.tokens);
  }

  bool step() override {
    if (search_) return search_->step();
    const std::vector<CircuitPair>& more = asked_.request.options.more_pairs;
    if (pairs_.size() <= more.size()) {
      const std::size_t index = pairs_.size() - 1;
      const CircuitPair& next = more[index];
      of_further_pair(index, [&] {
        read({next.text, next.pair}, {.token = to_id(next.token), .against = to_id(next.against)});
      });
      return true;
    }
    search_.emplace(std::move(subjects_), edge_circuit_options(asked_.request.options));
    return true;
  }

  NextGradients take() override {
    ComparedTexts& first = *pairs_.front();
    NextSubject& text = first.clean();
    const std::size_t position =
        text.before.sentence ? text.decoded.size() - 1 : asked_.place.position;
    return {.before = std::move(text.before),
            .position = position,
            .token = first.lead().token(),
            .against = first.lead().against(),
            .part = PairCircuit{search_->take(), first.corrupt_tokens()}};
  }

 private:
  void read(const TextInput& text, const NextAttributionOptions& tokens) {
    pairs_.push_back(std::make_unique<ComparedTexts>(pipeline_, text, asked_, tokens));
    subjects_.push_back(pairs_.back()->subject());
    numbers_ += pairs_.back()->numbers();
    TraceBudget().take(numbers_);
  }

  Pipeline& pipeline_;
  const AskedNext& asked_;
  std::vector<std::unique_ptr<ComparedTexts>> pairs_;
  std::vector<CircuitSubject> subjects_;
  std::uint64_t numbers_ = 0;
  std::optional<EdgeCircuitSearch> search_;
};

}  // namespace

std::unique_ptr<NextSteps> begin_next_circuit(Pipeline& pipeline, const TextInput& text,
                                              const AskedNext& asked) {
  return std::make_unique<NextCircuitSteps>(pipeline, text, asked);
}

}  // namespace glassformer
