#include "tasks/answer/answer.hpp"
#include "tasks/make_pipeline.hpp"

#include <algorithm>

#include "base/strings/decimal.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/result_writer.hpp"

namespace glassformer {
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

namespace {

// `logits`: [T, 2].
AnswerSpan span_of(const EncoderInput& input, const ConstView& logits, std::size_t max_answer_len) {
  const std::size_t tokens = logits.shape(0);
  std::vector<float> start(tokens), end(tokens);
  for (std::size_t i = 0; i < tokens; ++i) {
    start[i] = logits(i, 0);
    end[i] = logits(i, 1);
  }
  return best_span(input, start, end, max_answer_len);
}

}  // namespace

// Answers questions, one batch of windows per step.
class AnswerPipeline::Answering final : public TypedJob<Answer> {
 public:
  Answering(AnswerPipeline& pipeline, std::span<const TextInput> texts,
            const AnswerOptions& options)
      : pipeline_(pipeline), options_(options), batches_(pipeline, options.encoder) {
    if (make_linked_tape && !options.encoder.gradients.empty()) batches_.explain(explained());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      questions_.emplace_back();
      try {
        const auto& [question, context] = texts[i];
        if (!context) {
          throw_error(ErrorCode::invalid_option,
                      "text: expected a question and a context, got only a question");
        }
        questions_[i].context = *context;
        for (EncoderInput& input : pipeline_.windows(question, *context, options_)) {
          batches_.add(i, std::move(input));
        }
      } catch (const Error& error) {
        questions_[i].error = error;
      }
    }
  }

  bool step() override {
    return batches_.step([&](std::size_t text, EncoderAnswer answer) {
      Question& question = questions_[text];
      if (question.error) return;
      try {
        question.take(std::move(answer), options_.max_answer_len);
      } catch (const Error& error) {
        question.error = error;
      }
    });
  }

  // Returns the sum of the logits of the answer's first and last token.
  EncoderPipeline::Explained explained() {
    return [this](const EncoderInput& input, const ConstView& logits) {
      const AnswerSpan span = span_of(input, logits, options_.max_answer_len);
      return AnswerTerms{{span.first, 0, 1.0f}, {span.last, 1, 1.0f}};
    };
  }

  Results<Answer> take() override {
    Results<Answer> results;
    for (Question& question : questions_) {
      if (question.error) {
        results.emplace_back(*question.error);
      } else {
        results.emplace_back(answer_to(question));
      }
    }
    return results;
  }

 private:
  struct Question {
    std::string context;
    std::vector<AnswerSpan> spans;  // one per window so far
    EncoderAnswer best;             // of the window with the best span
    std::optional<Error> error;

    void take(EncoderAnswer answer, std::size_t max_answer_len) {
      const ConstView logits = const_view(answer.rows.data(), {answer.input.tokens.size(), 2});
      const AnswerSpan span = span_of(answer.input, logits, max_answer_len);
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
    answer.gradients = std::move(question.best.gradients);
    return answer;
  }

  void write_fields(ResultWriter& writer, Answer& answer) override { fields(writer, answer); }

  AnswerPipeline& pipeline_;
  AnswerOptions options_;
  Batches batches_;
  std::vector<Question> questions_;
};

std::unique_ptr<Job> AnswerPipeline::begin(const TaskInputs& inputs, const TaskOptions& options) {
  return begin(inputs_of<TextInput>(inputs), read_options<AnswerOptions>(options));
}

std::unique_ptr<TypedJob<Answer>> AnswerPipeline::begin(std::span<const TextInput> texts,
                                                        const AnswerOptions& options) {
  check_ranges(options);
  return std::make_unique<Answering>(*this, texts, options);
}

Answer AnswerPipeline::answer(std::string_view question, std::string_view context,
                              const AnswerOptions& options) {
  const TextInput text(question, context);
  return only(run_all(*begin(std::span(&text, 1), options)));
}

std::unique_ptr<Pipeline> make_answer(PipelineParts& parts) {
  return std::make_unique<AnswerPipeline>(std::move(parts.config), std::move(parts.tokenizer),
                                          parts.compute);
}

}  // namespace glassformer
