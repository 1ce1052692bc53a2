#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "api/encoder_options.hpp"
#include "explain/explained_text.hpp"
#include "explain/gradients.hpp"
#include "models/runner.hpp"
#include "run/trace/trace_plan.hpp"
#include "tasks/limits.hpp"
#include "tasks/options.hpp"
#include "tasks/pipeline.hpp"
#include "tasks/reading/input_reader.hpp"

namespace glassformer {

/// Throws `too_large`, naming the option, if a text has several windows and one of the options
/// needs a text of one.
void expect_one_window(const EncoderOptions& options, std::span<const EncoderInput> windows);

/// The output of an encoder for one input.
struct EncoderAnswer {
  EncoderInput input;
  std::size_t columns = 0;
  std::vector<float> rows;  ///< logits [1, C] or, per token, [T, C] or [input.rows, C]; or states
                            ///< [T, D]
  std::optional<AttentionMap> attention = {};
  std::optional<AttentionMap> decoder_attention = {}, cross_attention = {};  ///< with a decoder
  std::vector<TracedTensor> trace = {}, gradients = {};
  std::vector<float> contributions = {};  ///< [T, C], if requested
};

/// Returns an input in the form that explanations run.
ExplainedText explained_text(const EncoderInput& input);

/// The base of the tasks of an encoder.
class EncoderPipeline : public Pipeline {
 public:
  std::vector<NamedParameter> parameters() override { return model_->parameters(); }
  const ModelConfig& config() const override { return config_; }
  Compute compute() const override { return model_->compute(); }
  /// The tokenizer and the reader of a model that reads texts.
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const Tokenizer* vocabulary() const override { return tokenizer_.get(); }
  const InputReader& reader() const { return *reader_; }
  EncoderRunner model() { return {*model_, session()}; }

  /// Returns the answer for an input, whose gradients are requested, as terms of its logits, [1, C]
  /// or [T, C].
  using Explained = std::function<AnswerTerms(const EncoderInput&, const ConstView& logits)>;

  /// Runs inputs through the model, one batch per step.
  class Batches {
   public:
    /// Throws `invalid_option` for heads and names that do not exist, and the errors of TracePlan.
    /// The pipeline must outlive this.
    Batches(EncoderPipeline& pipeline, EncoderOptions options);

    /// Sets what requested gradients explain. Throws `unsupported` if that is nothing. Call it
    /// before the first step.
    void explain(Explained explained);

    /// Adds an input of text `text`. Throws `invalid_option` if a mask or a patch does not fit it,
    /// and `too_large` if the requested tensors would take too much memory.
    void add(std::size_t text, EncoderInput input);

    /// Runs the next batch and calls take(text, EncoderAnswer) for each of its inputs. Returns
    /// whether any are left.
    template <class Take>
    bool step(const Take& take) {
      for (auto& [text, answer] : run_batch()) take(text, std::move(answer));
      return next_ < inputs_.size();
    }

   private:
    struct Item {
      std::size_t text;
      EncoderInput input;
    };
    std::vector<std::pair<std::size_t, EncoderAnswer>> run_batch();
    // Moves the inputs of the next batch into it.
    Batch next_texts();
    Pictures next_pictures();
    bool fits(const Sequences& batch) const;
    std::vector<TracedTensor> gradients_for(const EncoderInput& input);
    void check_mask(std::size_t tokens) const;

    EncoderPipeline& pipeline_;
    EncoderOptions options_;
    Explained explained_;
    TracePlan plan_;
    TraceBudget budget_;
    std::vector<Item> inputs_;
    std::size_t next_ = 0;  // index of the first input that has not run yet
  };

 protected:
  /// `tokenizer` is null for a model that reads pictures. Throws `wrong_task` unless the
  /// configuration is for one of `accepted`, and the errors of InputReader.
  EncoderPipeline(ModelConfig config, std::span<const Task> accepted,
                  std::unique_ptr<const Tokenizer> tokenizer, Compute compute);
  /// Does the same for a model that exists.
  EncoderPipeline(ModelConfig config, std::span<const Task> accepted,
                  std::unique_ptr<const Tokenizer> tokenizer, std::shared_ptr<EncoderModel> model);

 private:
  ModelConfig config_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::optional<InputReader> reader_;  // of texts
  std::shared_ptr<EncoderModel> model_;
};

/// Returns the encoder's options among those of a task.
inline const EncoderOptions& encoder_options(const EncoderOptions& options) { return options; }
template <class Options>
const EncoderOptions& encoder_options(const Options& options) {
  return options.encoder;
}

}  // namespace glassformer
