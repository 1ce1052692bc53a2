#include "tasks/steer.hpp"

#include <algorithm>
#include <cmath>

#include "base/json/json_writer.hpp"

namespace glassformer {
namespace {

// Adds up the vectors of texts.
class MeanVector {
 public:
  void add(const float* row, std::size_t size) {
    sum_.resize(size);
    for (std::size_t i = 0; i < size; ++i) sum_[i] += static_cast<double>(row[i]);
    ++count_;
  }
  double at(std::size_t i) const { return sum_[i] / static_cast<double>(count_); }
  std::size_t size() const { return sum_.size(); }

 private:
  std::vector<double> sum_;
  std::size_t count_ = 0;
};

double length_of(const float* row, std::size_t size) {
  double square = 0;
  for (std::size_t i = 0; i < size; ++i) {
    square += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  }
  return std::sqrt(square);
}

// The lengths of all rows that were used.
struct Lengths {
  double sum = 0;
  std::size_t count = 0;
};

// Returns the tensors of this name in the run of a text: one, or one per sentence.
std::vector<TracedTensor> traced(Pipeline& pipeline, const std::string& name,
                                 std::string_view text) {
  JsonWriter options;
  options.object([&] {
    options.key("trace");
    options.array(std::span(&name, 1), [&](const std::string& each) { options.value(each); });
    if (writes(pipeline.config().task) && pipeline.config().task != Task::translation) {
      options.field("max_new_tokens", 1);
    }
  });
  const TextInput input(text);
  const std::string asked = options.take();
  const std::unique_ptr<Job> job = pipeline.begin(std::span(&input, 1), TaskOptions{asked});
  while (job->step()) {
  }
  job->finish();
  TensorsBeside writer;
  job->write(0, writer);
  std::vector<TracedTensor> found = writer.take_tensors();
  std::erase_if(
      found, [&](const TracedTensor& tensor) { return !tensor.name.ends_with("trace." + name); });
  return found;
}

void add_text(const SteeringRequest& request, std::span<const TracedTensor> tensors,
              MeanVector& mean, Lengths& lengths) {
  MeanVector of_text;
  for (const TracedTensor& tensor : tensors) {
    const bool is_map = request.name.ends_with(".scores") || request.name.ends_with(".weights");
    if (tensor.shape.size() < 2 || is_map) {
      refuse_option("name",
                    {"expected a tensor with a vector for each token, got {}", {request.name}});
    }
    const std::size_t rows = tensor.shape[0],
                      size = tensor.data.size() / std::max<std::size_t>(rows, 1);
    const bool last = request.rows == SteeredRows::last;
    const bool of_last_sentence = &tensor == &tensors.back();
    for (std::size_t row = 0; row < rows; ++row) {
      if (last && !(of_last_sentence && row + 1 == rows)) continue;
      const float* const numbers = tensor.data.data() + row * size;
      of_text.add(numbers, size);
      lengths.sum += length_of(numbers, size);
      ++lengths.count;
    }
  }
  std::vector<float> row(of_text.size());
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(of_text.at(i));
  mean.add(row.data(), row.size());
}

}  // namespace

SteeringVector steering_vector(Pipeline& pipeline, const SteeringRequest& request,
                               std::span<const std::string_view> toward,
                               std::span<const std::string_view> away) {
  if (request.name.empty()) refuse_option("name", "missing");
  if (toward.empty()) refuse_option("toward", "expected at least one text, got none");
  if (away.empty()) refuse_option("away", "expected at least one text, got none");
  MeanVector means[2];
  Lengths lengths;
  for (const bool is_away : {false, true}) {
    for (const std::string_view text : is_away ? away : toward) {
      add_text(request, traced(pipeline, request.name, text), means[is_away ? 1 : 0], lengths);
    }
  }
  SteeringVector result = {.name = request.name, .vector = {}};
  for (std::size_t i = 0; i < means[0].size(); ++i) {
    result.vector.push_back(static_cast<float>(means[0].at(i) - means[1].at(i)));
  }
  result.norm = static_cast<float>(length_of(result.vector.data(), result.vector.size()));
  result.stream_norm = static_cast<float>(lengths.sum / static_cast<double>(lengths.count));
  return result;
}

}  // namespace glassformer
