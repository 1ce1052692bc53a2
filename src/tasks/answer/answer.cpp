#include "tasks/answer/answer.hpp"
#include "tasks/make_pipeline.hpp"

#include <algorithm>

#include "base/decimal.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/result_writer.hpp"

namespace glassformer {
namespace {

std::size_t at_least_one(OptionsReader& reader, const char* key, std::size_t fallback) {
  return reader.find(key) ? reader.index(key, 1) : fallback;
}

}  // namespace

AnswerOptions parse_answer_options(const TaskOptions& task) {
  OptionsReader reader(task);
  AnswerOptions options;
  options.encoder.attention = reader.flag("attention");
  options.encoder.trace = reader.names("trace");
  options.encoder.patch = reader.patches("patch");
  options.encoder.ablate = reader.heads("ablate", 1);
  options.max_seq_len = at_least_one(reader, "maxSequenceLength", options.max_seq_len);
  if (reader.find("docStride")) options.doc_stride = reader.index("docStride");
  options.max_answer_len = at_least_one(reader, "maxAnswerLength", options.max_answer_len);
  options.handle_impossible_answer = reader.flag("handleImpossibleAnswer");
  reader.finish();
  return options;
}

AnswerPipeline::AnswerPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                               Compute compute)
    : EncoderPipeline(std::move(config), tasks, std::move(tokenizer), compute) {
  if (reader().around().pair.empty()) {
    throw_error(ErrorCode::unsupported,
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
    throw_error(ErrorCode::empty_input, {"{}: expected at least one token, got none", {name}});
  }
  AnswerOptions fitting = options;
  fitting.max_seq_len = std::min(options.max_seq_len, reader().max_tokens());
  const std::vector<TemplatePart>& pair = reader().around().pair;
  std::vector<EncoderInput> inputs;
  for (const auto& [begin, end] :
       context_windows(pair, {.question = asked.size(), .context = given.size()}, fitting)) {
    inputs.push_back(reader().join(asked, std::span(given).subspan(begin, end - begin)));
  }
  return inputs;
}

/// Questions that are being answered, a batch of windows a step.
class AnswerPipeline::Answering final : public Job {
 public:
  Answering(AnswerPipeline& pipeline, std::span<const TextInput> texts,
            const AnswerOptions& options, ResultForm form)
      : pipeline_(pipeline), options_(options), form_(form), work_(pipeline, options.encoder) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      questions_.emplace_back();
      try {
        const auto& [question, context] = texts[i];
        if (!context) {
          throw_error(ErrorCode::invalid_option,
                      "text: expected a question and a context, got a question alone");
        }
        questions_[i].context = *context;
        for (EncoderInput& input : pipeline_.windows(question, *context, options_)) {
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
        question.take(std::move(answer), options_.max_answer_len);
      } catch (const Error& error) {
        question.error = error;
      }
    });
  }

  std::vector<Outcome> end() override {
    std::vector<Outcome> outcomes;
    for (Question& question : questions_) {
      if (question.error) {
        outcomes.emplace_back(*question.error);
      } else {
        outcomes.emplace_back(pipeline_.to_result(answer_to(question), form_));
      }
    }
    return outcomes;
  }

  /// To the first question. Throws its error.
  Answer take_answer() {
    if (questions_[0].error) throw Error(*questions_[0].error);
    return answer_to(questions_[0]);
  }

 private:
  struct Question {
    std::string context;
    std::vector<AnswerSpan> spans;  // of each window so far
    EncoderAnswer best;             // of the window with the best of them
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
      if (better) best = std::move(answer);
    }
  };

  Answer answer_to(Question& question) const {
    Answer answer = best_answer(question.context, question.spans, options_);
    answer.tokens = pair_tokens(question.best.input, pipeline_.tokenizer());
    answer.attention = std::move(question.best.attention);
    answer.trace = std::move(question.best.trace);
    return answer;
  }

  AnswerPipeline& pipeline_;
  AnswerOptions options_;
  ResultForm form_;
  Work work_;
  std::vector<Question> questions_;
};

std::unique_ptr<Job> AnswerPipeline::begin(std::span<const TextInput> texts,
                                           const TaskOptions& options, ResultForm form) {
  return std::make_unique<Answering>(*this, texts, parse_answer_options(options), form);
}

Answer AnswerPipeline::answer(std::string_view question, std::string_view context,
                              const AnswerOptions& options) {
  const TextInput text(question, context);
  Answering job(*this, std::span(&text, 1), options, ResultForm::json);
  while (job.step()) {
  }
  return job.take_answer();
}

Result AnswerPipeline::to_result(Answer result, ResultForm form) const {
  if (is_line(form)) {
    const std::string score = six_decimals(result.score);
    std::string text = result.answer;
    std::ranges::replace_if(
        text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return {text + '\t' + score};
  }
  ResultWriter json(form);
  json.object([&] {
    json.field("answer", result.answer);
    json.field("score", result.score);
    json.field("start", result.start);
    json.field("end", result.end);
    json.key("tokens");
    write(json, result.tokens);
    if (result.attention) {
      json.tensors({to_tensor("attention.encoder", std::move(*result.attention))});
    }
    json.trace(std::move(result.trace));
  });
  return json.take_result();
}

std::unique_ptr<Pipeline> make_answer(PipelineParts& parts) {
  return std::make_unique<AnswerPipeline>(std::move(parts.config), std::move(parts.tokenizer),
                                          parts.compute);
}

}  // namespace glassformer
