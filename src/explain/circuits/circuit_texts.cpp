#include "explain/circuits/circuit_texts.hpp"

#include <utility>

#include "explain/gradients.hpp"

namespace glassformer {
namespace {

void expect_equal(const char* where, std::size_t clean, std::size_t corrupt) {
  if (clean == corrupt) return;
  throw_error(ErrorCode::invalid_option,
              {"text: expected a corrupt text of as many tokens as the clean one, {}, got {}{}",
               {clean, corrupt, where}});
}

WholePass next_token_pass(const DecodedText& text) {
  const std::vector<std::size_t> none;
  return text.pass(std::span(&none, 1));
}

class WrittenTexts final : public CircuitTexts {
 public:
  WrittenTexts(const WriterRunner& model, const DecodedText& clean, const DecodedText& corrupt)
      : model_(model), clean_(clean), corrupt_(corrupt) {}

  const Stack* encoder() const override {
    return clean_.source ? &model_.translator().encoder().stack() : nullptr;
  }
  const Stack* decoder() const override { return &model_->decoder().stack(); }
  std::size_t tokens(bool encoder) const override {
    return encoder ? clean_.source->sources.tokens() : clean_.ids.size();
  }
  Session& session() const override { return model_.session; }
  View run(bool corrupt, Run& run) const override {
    return corrupt ? run_pass(model_, corrupt_, corrupt_pass_, run)
                   : run_pass(model_, clean_, clean_pass_, run);
  }

 private:
  WriterRunner model_;
  DecodedText clean_, corrupt_;
  WholePass clean_pass_ = next_token_pass(clean_), corrupt_pass_ = next_token_pass(corrupt_);
};

class ClassifiedTexts final : public CircuitTexts {
 public:
  ClassifiedTexts(const EncoderRunner& model, const ExplainedText& clean,
                  const ExplainedText& corrupt)
      : model_(model),
        tokens_(clean.tokens()),
        clean_pass_(clean.pass()),
        corrupt_pass_(corrupt.pass()) {}

  const Stack* encoder() const override { return &model_->encoder().stack(); }
  const Stack* decoder() const override { return nullptr; }
  std::size_t tokens(bool) const override { return tokens_; }
  Session& session() const override { return model_.session; }
  View run(bool corrupt, Run& run) const override {
    return (corrupt ? corrupt_pass_ : clean_pass_)(model_.model, run);
  }

 private:
  EncoderRunner model_;
  std::size_t tokens_;
  WholePass clean_pass_, corrupt_pass_;
};

}  // namespace

std::unique_ptr<CircuitTexts> circuit_texts(const WriterRunner& model, const DecodedText& clean,
                                            const DecodedText& corrupt) {
  expect_gradients(model->compute());
  if (clean.source) {
    expect_equal(" in the source", clean.source->sources.tokens(),
                 corrupt.source->sources.tokens());
  }
  expect_equal("", clean.ids.size(), corrupt.ids.size());
  return std::make_unique<WrittenTexts>(model, clean, corrupt);
}

std::unique_ptr<CircuitTexts> circuit_texts(const EncoderRunner& model, const ExplainedText& clean,
                                            const ExplainedText& corrupt) {
  expect_gradients(model->compute());
  expect_equal("", clean.tokens(), corrupt.tokens());
  return std::make_unique<ClassifiedTexts>(model, clean, corrupt);
}

}  // namespace glassformer
