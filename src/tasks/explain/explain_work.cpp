#include "tasks/explain/explain_work.hpp"

#include "base/decimal.hpp"
#include "base/printable.hpp"

namespace glassformer {

ExplainJob::ExplainJob(std::span<const TextInput> texts, std::string method, ResultForm form)
    : method_(std::move(method)), form_(form) {
  for (const TextInput& text : texts) {
    texts_.push_back({std::string(text.text), std::nullopt});
    if (text.pair) texts_.back().pair = *text.pair;
  }
}

bool ExplainJob::step() {
  if (outcomes_.size() == texts_.size()) return false;
  try {
    if (!work_) {
      const Text& text = texts_[outcomes_.size()];
      work_ = begin(text.pair ? TextInput(text.text, *text.pair) : TextInput(text.text));
    }
    if (work_->step()) return true;
    outcomes_.emplace_back(result());
  } catch (const Error& error) {
    outcomes_.emplace_back(error);
  }
  work_.reset();
  return outcomes_.size() < texts_.size();
}

Result ExplainJob::result() const {
  if (is_line(form_)) return {work_->line()};
  ResultWriter json(form_);
  json.object([&] {
    json.field("method", method_);
    work_->write(json);
  });
  return json.take_result();
}

std::string decimal(double number) { return six_decimals(static_cast<float>(number)); }

void write_numbers(JsonWriter& json, std::string_view name, const std::vector<float>& numbers) {
  json.key(name);
  json.array(numbers, [&](float number) { json.value(number); });
}

void write_number(JsonWriter& json, std::string_view name, double number) {
  json.field(name, static_cast<float>(number));
}

void write(ResultWriter& json, const Rollout& rollout) {
  write_numbers(json, "scores", rollout.scores);
  const std::size_t tokens = rollout.scores.size();
  json.tensor({"rollout", {tokens, tokens}, rollout.matrix});
}

void write(ResultWriter& json, const ValueNorms& norms, const std::vector<float>& scores) {
  write_numbers(json, "scores", scores);
  json.tensor(to_tensor("heads", norms.heads));
  json.tensor(to_tensor("layers", norms.layers));
}

void write(ResultWriter& json, const Ledger& ledger) {
  write_number(json, "value", ledger.value);
  json.key("columns");
  json.array(ledger.columns, [&](const LedgerColumn& column) { json.value(to_string(column)); });
  if (!ledger.effects.empty()) write_numbers(json, "effects", ledger.effects);
  const std::vector<std::size_t> shape = {ledger.tokens, ledger.columns.size()};
  json.tensor({"written", shape, ledger.written});
  json.tensor({"read", shape, ledger.read});
}

void write(ResultWriter& json, const NextLedger& ledger) {
  json.key("token");
  write(json, ledger.token);
  json.key("against");
  write(json, ledger.against);
  write(json, ledger.ledger);
}

void write(JsonWriter& json, const Guess& guess) {
  json.object([&] {
    json.field("id", guess.id);
    json.field("text", guess.text);
    json.field("logprob", guess.logprob);
  });
}

void write(JsonWriter& json, const NextLens& lens) {
  json.key("layers");
  json.array(lens.layers, [&](const std::vector<std::vector<Guess>>& rows) {
    json.array(rows, [&](const std::vector<Guess>& guesses) {
      json.array(guesses, [&](const Guess& guess) { write(json, guess); });
    });
  });
}

std::string line_of(const Ledger& ledger) {
  std::string line = "value=" + decimal(ledger.value);
  for (std::size_t c = 0; c < ledger.columns.size(); ++c) {
    double sum = 0;
    for (std::size_t i = 0; i < ledger.tokens; ++i) {
      sum += static_cast<double>(ledger.written[i * ledger.columns.size() + c]);
    }
    line.append("\t").append(to_string(ledger.columns[c])).append("=").append(decimal(sum));
  }
  return line;
}

std::string line_of(const std::vector<InputToken>& tokens, const std::vector<float>& scores) {
  std::string line;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t blank = tokens[i].text.starts_with(' ') ? 1 : 0;
    line.append(i > 0 ? "\t" : "").append(printable(tokens[i].text.substr(blank))).append("=");
    line += decimal(static_cast<double>(scores[i]));
  }
  return line;
}

void name_guesses(std::vector<std::vector<Guess>>& guesses, const Tokenizer& tokenizer) {
  for (std::vector<Guess>& row : guesses) {
    for (Guess& guess : row) guess.text = tokenizer.display_text(guess.id);
  }
}

}  // namespace glassformer
