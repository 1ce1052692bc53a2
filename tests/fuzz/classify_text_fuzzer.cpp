// A classifier either answers a text of any bytes or throws a typed error. The first byte selects
// the model, the second one the options.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/strings/utf8.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/embedded_tensors.hpp"
#include "tasks/load.hpp"

using namespace glassformer;

static std::unique_ptr<ClassifyPipeline> load(const char* name) {
  return load_pipeline<ClassifyPipeline>(
      std::string(GLASSFORMER_SOURCE_DIR "/tests/fixtures/golden/") + name);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array pipelines{load("pre_norm_mean"), load("pre_norm_unbiased_first"),
                                    load("local_post_norm_learned"), load("linear_attention")};
  if (size < 2) return 0;
  ClassifyPipeline& pipeline = *pipelines[data[0] % pipelines.size()];
  ClassifyOptions options = {
      .encoder = {.attention = (data[1] & 1) != 0, .contributions = (data[1] & 2) != 0}};
  if (data[1] & 4) options.encoder.ablate = {{.layer = 1, .head = 1}};
  if (data[1] & 8) options.encoder.mask_tokens = {static_cast<std::size_t>(data[1] >> 4)};
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  try {
    Classification result = pipeline.classify(text, options);
    std::uint32_t position = 0;
    for (const InputToken& token : result.tokens) {
      if (token.start < position || token.end < token.start) std::abort();
      position = token.end;
    }
    if (position > utf16_size(text)) std::abort();
    if (result.tokens.size() > pipeline.config().encoder().max_length) std::abort();
    for (const float logit : result.logits) {
      if (!std::isfinite(logit)) std::abort();
    }
    EmbeddedTensors writer;
    writer.object([&] { pipeline.write_fields(writer, result); });
    if (!nlohmann::json::accept(writer.take())) std::abort();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
