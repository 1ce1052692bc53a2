#include "pipelines/answer.hpp"

#include <algorithm>
#include <cstdio>

#include "pipelines/result_writer.hpp"

namespace glassformer {
namespace {

std::size_t at_least_one(OptionsReader& reader, const char* key, std::size_t fallback) {
  return reader.find(key) ? reader.index(key, 1) : fallback;
}

}  // namespace

AnswerPipelineOptions parse_answer_options(std::string_view json) {
  OptionsReader reader(json);
  AnswerPipelineOptions options;
  options.encoder.attention = reader.flag("attention");
  options.encoder.trace = reader.names("trace");
  options.encoder.ablate = reader.heads("ablate", 1);
  AnswerOptions& answer = options.answer;
  answer.max_seq_len = at_least_one(reader, "maxSequenceLength", answer.max_seq_len);
  if (reader.find("docStride")) answer.doc_stride = reader.index("docStride");
  answer.max_answer_len = at_least_one(reader, "maxAnswerLength", answer.max_answer_len);
  answer.handle_impossible_answer = reader.flag("handleImpossibleAnswer");
  reader.finish();
  return options;
}

AnswerPipeline::AnswerPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                               Compute compute)
    : EncoderPipeline(std::move(config), Task::question_answering, std::move(tokenizer), compute) {
  if (reader().around().pair.empty()) {
    throw Error(ErrorCode::unsupported,
                "the tokenizer: expected one that puts a question and a context together, got one "
                "for single texts");
  }
}

std::vector<EncoderInput> AnswerPipeline::windows(std::string_view question,
                                                  std::string_view context,
                                                  const AnswerOptions& options) const {
  for (const std::string_view text : {question, context}) {
    expect_text_size(InputReader::max_text_bytes, text.size());
  }
  const std::vector<Token> asked = tokenizer().encode(question);
  const std::vector<Token> given = tokenizer().encode(context);
  for (const auto& [tokens, name] : {std::pair(&asked, "question"), std::pair(&given, "context")}) {
    if (!tokens->empty()) continue;
    throw Error(ErrorCode::empty_input,
                std::string(name) + ": expected at least one token, got none");
  }
  AnswerOptions fitting = options;
  fitting.max_seq_len = std::min(options.max_seq_len, reader().max_tokens());
  const std::vector<TemplatePart>& pair = reader().around().pair;
  std::vector<EncoderInput> inputs;
  for (const auto& [begin, end] :
       context_windows(pair, {.question = asked.size(), .context = given.size()}, fitting)) {
    EncoderInput& input = inputs.emplace_back();
    static_cast<ModelInput&>(input) =
        fill(pair, asked, std::span(given).subspan(begin, end - begin));
  }
  return inputs;
}

/// Questions that are being answered, a batch of windows a step.
class AnswerPipeline::Answering final : public Job {
 public:
  Answering(AnswerPipeline& pipeline, std::span<const std::string_view> texts,
            const AnswerPipelineOptions& options, ResultForm form)
      : pipeline_(pipeline), options_(options), form_(form), work_(pipeline, options.encoder) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      questions_.emplace_back();
      try {
        const auto [question, context] = split_pair(texts[i], "a question and a context");
        questions_[i].context = context;
        for (EncoderInput& input : pipeline_.windows(question, context, options_.answer)) {
          work_.add(i, std::move(input));
        }
      } catch (const Error& error) {
        questions_[i].error = error;
      }
    }
  }

  bool step() override {
    return work_.step([&](std::size_t text, EncoderAnswer answer) {
      Question& question = questions_[text];
      if (question.error) return;
      try {
        question.take(std::move(answer), options_.answer.max_answer_len);
      } catch (const Error& error) {
        question.error = error;
      }
    });
  }

  std::vector<std::variant<AnsweredQuestion, Error>> take_results() {
    std::vector<std::variant<AnsweredQuestion, Error>> results;
    for (Question& question : questions_) {
      if (question.error) {
        results.emplace_back(*question.error);
        continue;
      }
      question.best.answer = best_answer(question.context, question.spans, options_.answer);
      results.emplace_back(std::move(question.best));
    }
    return results;
  }

  std::vector<Outcome> end() override {
    return to_outcomes(take_results(), [&](AnsweredQuestion result) {
      return pipeline_.to_result(std::move(result), form_);
    });
  }

 private:
  struct Question {
    std::string context;
    std::vector<AnswerSpan> spans;  // of each window so far
    AnsweredQuestion best;          // of the window with the best of them
    std::optional<Error> error;

    void take(EncoderAnswer answer, std::size_t max_answer_len) {
      const std::size_t tokens = answer.input.tokens.size();
      std::vector<float> start(tokens), end(tokens);
      for (std::size_t i = 0; i < tokens; ++i) {
        start[i] = answer.rows[2 * i];
        end[i] = answer.rows[2 * i + 1];
      }
      const AnswerSpan span = best_span(answer.input, start, end, max_answer_len);
      const bool better = spans.empty() || std::ranges::all_of(spans, [&](const AnswerSpan& other) {
                            return span.score > other.score;
                          });
      spans.push_back(span);
      if (!better) return;
      best.tokens = std::move(answer.input.tokens);
      best.second.clear();
      for (const TemplatePart::Kind kind : answer.input.kinds) {
        best.second.push_back(kind == TemplatePart::Kind::second_text);
      }
      best.attention = std::move(answer.attention);
      best.trace = std::move(answer.trace);
    }
  };

  AnswerPipeline& pipeline_;
  AnswerPipelineOptions options_;
  ResultForm form_;
  Work work_;
  std::vector<Question> questions_;
};

std::unique_ptr<Job> AnswerPipeline::begin(std::span<const std::string_view> texts,
                                           std::string_view options, ResultForm form) {
  return std::make_unique<Answering>(*this, texts, parse_answer_options(options), form);
}

AnsweredQuestion AnswerPipeline::answer(std::string_view question, std::string_view context,
                                        const AnswerPipelineOptions& options) {
  // The first tab is what parts the two.
  std::string text(question);
  std::ranges::replace(text, '\t', ' ');
  text.append("\t").append(context);
  const std::string_view texts[] = {text};
  Answering job(*this, texts, options, ResultForm::json);
  while (job.step()) {
  }
  auto results = job.take_results();
  if (const Error* error = std::get_if<Error>(&results[0])) throw Error(*error);
  return std::get<AnsweredQuestion>(std::move(results[0]));
}

Result AnswerPipeline::to_result(AnsweredQuestion result, ResultForm form) const {
  const Answer& answer = result.answer;
  if (form == ResultForm::line) {
    char score[32];
    std::snprintf(score, sizeof score, "%.6f", static_cast<double>(answer.score));
    std::string text = answer.answer;
    std::ranges::replace_if(
        text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return {text + '\t' + score};
  }
  ResultWriter json(form);
  json.object([&] {
    json.field("answer", answer.answer);
    json.field("score", answer.score);
    json.field("start", answer.start);
    json.field("end", answer.end);
    json.key("tokens");
    write_tokens(json, result.tokens, result.second, tokenizer());
    if (result.attention) {
      result.trace.push_back(to_tensor("attention.encoder", std::move(*result.attention)));
    }
    json.tensors(std::move(result.trace));
  });
  return json.take_result();
}

}  // namespace glassformer
