#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/generate.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/error.hpp"
#include "glassformer/output.hpp"
#include "glassformer/text_input.hpp"

namespace glassformer {

class GeneratePipeline;

/// Summarizes texts: a model with an encoder that was trained to, such as BART, T5 or Pegasus's
/// relatives. It uses the settings that the folder has for the task "summarization", if it has
/// any. Any number of threads may call it at a time.
class Summarizer {
 public:
  /// Opens a model folder. Throws the same errors as Classifier::load.
  static Summarizer load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Summarizer(std::unique_ptr<GeneratePipeline> pipeline);
  Summarizer(Summarizer&&) noexcept;
  Summarizer& operator=(Summarizer&&) noexcept;
  ~Summarizer();

  Compute compute() const;

  /// Summarizes a text. Throws the same errors as Generator::generate. The first tokens of a text
  /// that is too long are read.
  Generation summarize(std::string_view text, const GenerateOptions& options = {});

  /// Summarizes several texts. An error in one text does not affect the others.
  std::vector<std::variant<Generation, Error>> summarize_batch(const Texts& texts,
                                                               const GenerateOptions& options = {});

 private:
  std::unique_ptr<GeneratePipeline> pipeline_;
};

}  // namespace glassformer
