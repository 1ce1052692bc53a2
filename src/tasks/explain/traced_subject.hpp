#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tasks/explain/explain.hpp"
#include "tasks/explain/next/next_gradients.hpp"
#include "tasks/explain/requests/request.hpp"
#include "tasks/pipeline.hpp"

// An input of any task, whose run can be looked into.

namespace glassformer {

/// What describes an explained input.
struct SubjectFacts {
  ReadBefore before = {};              ///< the input; of a picture, empty
  std::optional<PatchGrid> grid = {};  ///< of a picture
  PictureRegion region = {};           ///< of a picture
  /// The answer that the model gives: a label, or a next token.
  std::optional<std::string> label = {};
  std::optional<Guess> token = {}, against = {};
};

/// Names of tensors, by the stack that they belong to.
struct StackTensors {
  std::vector<std::string> decoder, encoder;
};

/// An input as a model reads it.
class TracedSubject {
 public:
  virtual ~TracedSubject() = default;

  /// Returns nothing for a stack that the model does not have.
  virtual std::optional<ExplainedStack> stack(bool encoder) const = 0;
  virtual std::size_t rows(bool encoder) const = 0;
  /// Throws `too_large`, and `invalid_option` for tensors that the model does not have.
  virtual std::vector<TracedTensor> trace(const StackTensors& names) const = 0;
  virtual Session& session() const = 0;
  /// Returns the number that is explained, or nothing if the model gives no such answer.
  virtual std::optional<double> answer(std::span<const Patch> patches) const = 0;
  /// Moves what describes the input to the result.
  virtual void describe(SubjectFacts& result) = 0;
  /// Returns the texts of rows; none of a picture.
  virtual std::vector<std::string> names(bool encoder) const = 0;
};

/// Reads inputs of any task that reads or writes texts or pictures.
class SubjectReader {
 public:
  /// The rows of a model that writes that have to be there.
  struct Wanted {
    std::optional<std::size_t> row = {};  ///< this row of the decoder, unless options name one
    bool whole = false;                   ///< all rows of a translation
  };
  /// Both must outlive this. Throws `unsupported` for arithmetic in integers, and `invalid_option`
  /// for labels and places that do not exist.
  SubjectReader(Pipeline& pipeline, const ExplainRequest& request, const Wanted& wanted);

  std::unique_ptr<TracedSubject> read(const TextInput& text) const;
  std::unique_ptr<TracedSubject> read(const Picture& picture) const;

 private:
  std::unique_ptr<TracedSubject> classified(ExplainInput input) const;
  std::unique_ptr<TracedSubject> read_to_write(std::string_view text) const;

  Pipeline& pipeline_;
  const ExplainRequest& request_;
  Wanted wanted_;
  std::optional<ClassifierExplainer> explainer_;
  TranslatedPlace place_;  // of a model that writes
};

/// Explains inputs of any task one after the other. Steps explains one of them, with step() and
/// take().
template <class Result, class Steps>
class SubjectJob : public TypedJob<Result> {
 public:
  /// The request is copied.
  SubjectJob(Pipeline& pipeline, const TaskInputs& inputs, const ExplainRequest& request,
             const SubjectReader::Wanted& wanted)
      : request_(request), reader_(pipeline, request_, wanted) {
    check_ranges(request_);
    if (reads_pictures(pipeline.config())) {
      const std::span pictures = inputs_of<Picture>(inputs);
      pictures_.assign(pictures.begin(), pictures.end());
    } else {
      const std::span texts = inputs_of<TextInput>(inputs);
      texts_ = std::vector<OwnedText>(texts.begin(), texts.end());
      if (writes(pipeline.config().task)) single_texts(texts);  // refuses pairs
    }
  }
  SubjectJob(const SubjectJob&) = delete;  // the reader refers to the request
  SubjectJob& operator=(const SubjectJob&) = delete;

  bool step() override {
    const std::size_t inputs = texts_.size() + pictures_.size(), index = results_.size();
    if (index == inputs) return false;
    try {
      if (!steps_) {
        steps_ = begin(pictures_.empty() ? reader_.read(texts_[index].input())
                                         : reader_.read(pictures_[index]));
      }
      if (steps_->step()) return true;
      results_.emplace_back(steps_->take());
    } catch (const Error& error) {
      results_.emplace_back(error);
    }
    steps_.reset();
    return results_.size() < inputs;
  }
  Results<Result> take() override { return std::move(results_); }

 protected:
  /// Writes the method and the input.
  void write_facts(ResultWriter& visit, SubjectFacts& result) const {
    visit("method", request_.method->name);
    if (result.before.sentence) {
      visit("sentence", request_.options.sentence);
      sentence_fields(visit, *result.before.sentence);
    } else if (result.grid) {
      visit("grid", *result.grid);
      visit("region", result.region);
    } else {
      visit("tokens", result.before.tokens);
      visit("clipped", result.before.clipped);
    }
  }

 private:
  virtual std::unique_ptr<Steps> begin(std::unique_ptr<TracedSubject> subject) const = 0;

  ExplainRequest request_;
  SubjectReader reader_;
  std::vector<OwnedText> texts_;
  std::vector<Picture> pictures_;
  std::unique_ptr<Steps> steps_;
  Results<Result> results_;
};

}  // namespace glassformer
