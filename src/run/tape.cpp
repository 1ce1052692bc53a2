#include "run/tape.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace glassformer {

ParameterGradients::ParameterGradients(std::span<const std::size_t> sizes) {
  for (const std::size_t size : sizes) buffers_.emplace_back(size);
}

void ParameterGradients::set_to_zero() {
  for (AlignedBuffer& buffer : buffers_) glassformer::set_to_zero(buffer);
}

void ParameterGradients::add(const ParameterGradients& other, Pool& pool) {
  std::size_t numbers = 0;
  for (const AlignedBuffer& buffer : buffers_) numbers += buffer.size();
  pool.each(buffers_.size(), numbers, [&](std::size_t i, std::size_t) {
    kernels().add_scaled(buffers_[i].data(), other.buffers_[i].data(), buffers_[i].size(), 1.0f);
  });
}

Tape::Tape(Arena& arena) : arena_(arena) {
  arena_.clear();
  arena_.hold(true);
}

std::unique_ptr<Tape> make_tape(Arena& arena) { return std::make_unique<Tape>(arena); }

Tape::~Tape() {
  arena_.hold(false);
  arena_.clear();
}

void Tape::start(ParameterGradients* parameters) {
  parameters_ = parameters;
  steps_.clear();
  arena_.clear();
}

ConstView Tape::keep(const ConstView& x) {
  const View copy = arena_.make(x.shape(0), x.shape(1));
  std::copy_n(x.data(), x.size(), copy.data());
  return const_view(copy);
}

void Tape::turn() {
  gradients_.resize(std::max(gradients_.size(), arena_.chunks()));
  for (std::size_t i = 0; i < arena_.chunks(); ++i) {
    gradients_[i].resize(arena_.chunk(i).size());
    set_to_zero(gradients_[i]);
  }
}

void Tape::rewind() {
  while (!steps_.empty()) {
    const Step step = std::move(steps_.back());
    steps_.pop_back();
    step(*this);
  }
}

void Tape::rewind_first(std::size_t count) {
  while (count > 0) steps_[--count](*this);
}

float* Tape::gradient(const float* x) {
  for (std::size_t i = 0; i < arena_.chunks(); ++i) {
    const std::span<const float> chunk = arena_.chunk(i);
    if (x >= chunk.data() && x < chunk.data() + chunk.size()) {
      return gradients_[i].data() + (x - chunk.data());
    }
  }
  return nullptr;  // of a tensor without rows
}

namespace {

// Multiplies each number by 0 or by `scale`. The same seed chooses the same numbers.
void drop_from(View x, SplitMix64 random, float dropout) {
  const auto limit = static_cast<std::uint64_t>(dropout * 65536.0f);
  const float scale = 1.0f / (1.0f - dropout);
  float* const data = x.data();
  const std::size_t size = x.size();
  for (std::size_t i = 0; i < size; i += 4) {
    std::uint64_t bits = random.next();
    for (std::size_t j = i; j < std::min(i + 4, size); ++j, bits >>= 16) {
      data[j] = (bits & 0xFFFF) < limit ? 0.0f : data[j] * scale;
    }
  }
}

}  // namespace

void Tape::drop(View x) {
  if (dropout == 0) return;
  const SplitMix64 start = random.fork();
  drop_from(x, start, dropout);
  record([x, start, share = dropout](Tape& tape) {
    drop_from(tape.gradient(const_view(x)), start, share);
  });
}

}  // namespace glassformer
