#include "train/learner.hpp"

#include <cstring>
#include <numeric>

#include "base/error.hpp"
#include "base/shuffle.hpp"

namespace glassformer {

std::vector<std::vector<const Example*>> cut_into_shards(std::span<const Example* const> examples,
                                                         std::size_t shard_tokens) {
  std::vector<std::vector<const Example*>> shards;
  std::size_t tokens = shard_tokens;
  for (const Example* const example : examples) {
    if (tokens + example->tokens() > shard_tokens) {
      shards.emplace_back();
      tokens = 0;
    }
    shards.back().push_back(example);
    tokens += example->tokens();
  }
  return shards;
}

Learner::Learner(std::span<const Example> examples, std::uint64_t seed, std::uint64_t fingerprint)
    : examples_(examples), seed_(seed) {
  progress_.fingerprint = fingerprint;
  shuffle();
}

// Orders the examples of an epoch: the same for the same seed and epoch.
void Learner::shuffle() {
  order_.resize(examples_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  glassformer::shuffle(order_, SplitMix64(seed_ ^ (progress_.epoch * 0x9e3779b97f4a7c15u)));
}

void Learner::fail_step(const TrainingProgress& before) {
  progress_ = before;
  shuffle();
  throw_error(ErrorCode::non_finite,
              {"training, step {}: expected a finite loss, got NaN or infinity; a smaller "
               "learning rate may help",
               {before.step + 1}});
}

void Learner::add_stored(const LearnedParameters& parameters, Optimizer& optimizer,
                         std::vector<Stored>& stored) {
  for (const LearnedParameters::Part& part : parameters.parts()) {
    stored.push_back({"value/" + part.name, part.shape, part.value});
  }
  for (const Optimizer::State& state : optimizer.states()) {
    stored.push_back({"state/" + state.name, {state.values.size()}, state.values});
  }
}

std::vector<const Example*> Learner::next_batch(std::size_t wanted) {
  std::vector<const Example*> batch;
  std::size_t tokens = 0;
  while (tokens < wanted) {
    if (progress_.position == order_.size()) {
      ++progress_.epoch;
      progress_.position = 0;
      shuffle();
      if (!batch.empty()) break;
    }
    const Example& example = examples_[order_[static_cast<std::size_t>(progress_.position++)]];
    batch.push_back(&example);
    tokens += example.tokens();
  }
  return batch;
}

namespace {

constexpr const char* progress_name = "progress";
constexpr std::size_t progress_bytes = sizeof(TrainingProgress);

}  // namespace

std::vector<NamedTensor> Learner::checkpoint_tensors() {
  std::vector<NamedTensor> tensors;
  for (Stored& tensor : stored()) {
    tensors.push_back({std::move(tensor.name), DType::f32, std::move(tensor.shape),
                       std::as_bytes(tensor.values)});
  }
  const auto progress = std::as_bytes(std::span(&progress_, 1));
  tensors.push_back({progress_name, DType::u64, {progress_bytes / 8}, progress});
  return tensors;
}

std::vector<std::byte> Learner::checkpoint() { return write_safetensors(checkpoint_tensors()); }

std::uint64_t Learner::checkpoint_size() { return lay_out_safetensors(checkpoint_tensors()).size; }

void Learner::restore(std::span<const std::byte> checkpoint) {
  const SafetensorsFile file = SafetensorsFile::parse(checkpoint);
  const auto find = [&](const std::string& name, const std::vector<std::size_t>& shape,
                        DType dtype) {
    for (const TensorInfo& info : file.header().tensors()) {
      if (info.name != name) continue;
      if (info.shape == shape && info.dtype == dtype) return file.bytes(info);
      throw_error(ErrorCode::shape_mismatch, {"checkpoint: {}: expected {} {}, got {} {}",
                                              {name, to_string(dtype), to_string(shape),
                                               to_string(info.dtype), to_string(info.shape)}});
    }
    throw_error(ErrorCode::missing_tensor,
                {"checkpoint: {}: expected shape {}, got none", {name, to_string(shape)}});
  };
  const auto bytes = find(progress_name, {progress_bytes / 8}, DType::u64);
  TrainingProgress progress;
  std::memcpy(&progress, bytes.data(), bytes.size());
  if (progress.fingerprint != progress_.fingerprint) {
    throw_error(ErrorCode::invalid_option,
                "checkpoint: expected one with the same data and options, got another");
  }
  if (progress.position > examples_.size() || !(progress.seconds >= 0)) {
    throw_error(
        ErrorCode::invalid_data,
        {"checkpoint: progress: expected at most {} examples of an epoch and a time, got {}",
         {examples_.size(), progress.position}});
  }
  const std::vector<Stored> all = stored();
  std::vector<std::span<const std::byte>> found;
  for (const Stored& tensor : all) {
    found.push_back(find(tensor.name, tensor.shape, DType::f32));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::memcpy(all[i].values.data(), found[i].data(), found[i].size());
  }
  progress_ = progress;
  restored();
  shuffle();
}

}  // namespace glassformer
