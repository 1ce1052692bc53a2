#include "explain/dictionaries/text_features.hpp"

#include "base/error.hpp"
#include "explain/traced.hpp"

namespace glassformer {

TextFeatures text_features(const Dictionary& dictionary, std::span<const TracedTensor> trace,
                           Session& session) {
  const DictionaryConfig& config = dictionary.config();
  const TracedTensor& x = find_traced(trace, config.reads);
  const TracedTensor& y = find_traced(trace, config.writes);
  for (const TracedTensor* const tensor : {&x, &y}) {
    if (tensor->shape.size() == 2 && tensor->shape[1] == config.d_model) continue;
    throw_error(ErrorCode::shape_mismatch,
                {"dictionary: {}: expected rows of {} numbers, got {}",
                 {tensor->name, config.d_model, to_string(tensor->shape)}});
  }
  TextFeatures result = {.name = config.writes, .kind = config.kind};
  const std::size_t rows = x.shape[0], width = config.d_model;
  result.rows = dictionary.active(const_view(x.data.data(), {rows, width}), session);
  std::vector<float> written(width);
  for (std::size_t row = 0; row < rows; ++row) {
    dictionary.write(result.rows[row], written);
    double left = 0, whole = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const double is = static_cast<double>(y.data[row * width + c]);
      const double error = is - static_cast<double>(written[c]);
      const double size = is - static_cast<double>(dictionary.bias().value[c]);
      left += error * error;
      whole += size * size;
    }
    result.error.push_back(static_cast<float>(whole > 0 ? left / whole : 0));
  }
  return result;
}

}  // namespace glassformer
