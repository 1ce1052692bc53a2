// A translator either answers a text of any bytes, whole or as a stream, or throws a typed error.
// The first byte selects the model, the second one the options.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/strings/utf8.hpp"
#include "tasks/embedded_tensors.hpp"
#include "tasks/load.hpp"
#include "tasks/translate/translate.hpp"

using namespace glassformer;

static std::unique_ptr<TranslatePipeline> load(const char* name) {
  return load_pipeline<TranslatePipeline>(
      std::string(GLASSFORMER_SOURCE_DIR "/tests/fixtures/golden/") + name);
}

static void check(const Translation& result, std::string_view text) {
  if (!is_valid_utf8(result.text) && is_valid_utf8(text)) std::abort();
  std::uint32_t source = 0, target = 0;
  for (const SentenceTranslation& sentence : result.sentences) {
    if (sentence.start < source || sentence.end < sentence.start) std::abort();
    if (sentence.target_start < target || sentence.target_end < sentence.target_start) std::abort();
    source = sentence.end;
    target = sentence.target_end;
  }
  if (source > utf16_size(text) || target > utf16_size(result.text)) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array pipelines{load("translate_pre_norm_shared"),
                                    load("translate_tutorial_separate"),
                                    load("translate_odd_local")};
  if (size < 2) return 0;
  TranslatePipeline& pipeline = *pipelines[data[0] % pipelines.size()];
  const auto with_alignment =
      (data[1] & 32) != 0 ? std::optional<AlignmentOptions>(std::in_place) : std::nullopt;
  TranslateOptions options = {.beams = 1 + std::size_t{data[1]} % 4,
                              .max_length = 12,
                              .attention = (data[1] & 4) != 0,
                              .alignment = with_alignment,
                              .hypotheses = (data[1] & 8) != 0};
  options.stream = (data[1] & 16) != 0;
  if (options.stream) options.beams = 1;
  if (data[1] & 64) options.ablate = {{.layer = 0, .head = 1, .attention = AttentionSite::cross}};
  const std::string_view text(reinterpret_cast<const char*>(data) + 2,
                              std::min<std::size_t>(size - 2, 200));  // limits the time
  try {
    auto job = pipeline.begin(std::span(&text, 1), options);
    std::string settled, shown;
    while (!job->done()) {
      job->step();
      const auto& streamed = job->streamed();
      if (!streamed) continue;
      if (job->sentence().output.tokens.size() == 1) settled = shown + streamed->before;
      shown = settled + job->sentence().output.text;
      if (!job->text(0).starts_with(shown)) std::abort();
      EmbeddedTensors writer;
      if (!job->show(writer) || !nlohmann::json::accept(writer.take())) std::abort();
    }
    Translation result = only(job->take());
    check(result, text);
    EmbeddedTensors writer;
    writer.object([&] { fields(writer, result); });
    if (!nlohmann::json::accept(writer.take())) std::abort();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
