#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/split_mix.hpp"
#include "kernels/packed/matrix.hpp"
#include "kernels/pool.hpp"
#include "run/arena.hpp"
#include "tensor/tensor.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

/// The gradients of parameters: one buffer for each parameter that is learned.
class ParameterGradients {
 public:
  /// Creates buffers of these sizes, filled with zeros.
  explicit ParameterGradients(std::span<const std::size_t> sizes);

  /// Returns the gradient of a parameter, or null if it is not learned.
  float* of(const Parameter& parameter) {
    return parameter.slot == 0 ? nullptr : buffers_[parameter.slot - 1].data();
  }
  std::span<float> of(std::size_t slot) { return buffers_[slot - 1]; }
  std::size_t size() const { return buffers_.size(); }

  void set_to_zero();
  /// Adds other gradients, buffer by buffer.
  void add(const ParameterGradients& other, Pool& pool);

 private:
  std::vector<AlignedBuffer> buffers_;
};

/// The rules by which steps are taken back.
enum class BackwardRules {
  gradients,
  /// AttnLRP (Achtibat et al. 2024, "AttnLRP: Attention-Aware Layer-Wise Relevance Propagation for
  /// Transformers"): a "gradient" times its input is the input's relevance. The spread of norms is
  /// constant; an activation f passes f(x) / x, not f'(x); each factor of a product of two
  /// activations has half of the product's relevance. Biases keep theirs, the softmax a part of it.
  attn_lrp,
  /// CP-LRP (Ali et al. 2022, "XAI for Transformers: Better Explanations through Conservative
  /// Propagation"): the same with attention weights and gates as constants. Only biases keep
  /// theirs.
  cp_lrp,
};

/// Records the steps of a forward pass, and takes them back to compute gradients (reverse-mode
/// differentiation: Linnainmaa 1970; Baydin et al. 2018, section 3.2).
///
/// While a tape exists, the arena of its session keeps everything that the pass takes from it.
/// Every float of the arena then has a gradient, at the same place of a second memory. A step that
/// changes a tensor in place changes the tensor's gradient in place when it is taken back.
///
///     Tape tape(session.arena);
///     tape.start(&gradients);
///     run.record(tape);
///     logits = model(batch, run);
///     tape.turn();
///     loss(logits, tape.gradient(logits));
///     tape.rewind();
class Tape {
 public:
  using Step = std::function<void(Tape&)>;

  explicit Tape(Arena& arena);
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  ~Tape();

  /// Clears the arena and begins with a new pass. `parameters` receives the gradients of
  /// parameters; it may be null. Everything that the pass reads must outlive it.
  void start(ParameterGradients* parameters);

  /// Returns whether the pass adds to the gradients of parameters.
  bool learns() const { return parameters_ != nullptr; }

  /// Adds a step. `backward` is called after the steps that follow, once for each time that the
  /// pass is taken back.
  void record(Step backward) { steps_.push_back(std::move(backward)); }

  /// Returns a copy of a tensor that the pass is about to overwrite.
  ConstView keep(const ConstView& x);

  /// Sets the gradients of all activations to zero. Call it after the forward pass.
  void turn();
  /// Takes back all steps. The gradients of the pass's results must be set before.
  void rewind();
  /// Takes back the first `count` steps and keeps all, to take them back again after another turn.
  void rewind_first(std::size_t count);
  std::size_t steps() const { return steps_.size(); }

  /// Returns the gradient of the float at this place of the arena, followed by those of the next
  /// floats.
  float* gradient(const float* x);
  View gradient(const ConstView& x) { return view(gradient(x.data()), x.shape()); }
  /// Returns the gradient of a parameter, or null if it is not learned.
  float* gradient(const Parameter& parameter) {
    return parameters_ ? parameters_->of(parameter) : nullptr;
  }

  BackwardRules rules = BackwardRules::gradients;

  /// The share of numbers that dropout sets to zero, and its random numbers.
  float dropout = 0;
  SplitMix64 random{0};
  /// Sets each number to zero with the probability `dropout` and divides the others by what is
  /// left of 1 (Srivastava et al. 2014).
  void drop(View x);

  /// Memory for the steps.
  PackedMatrix packed;
  AlignedBuffer scratch;
  float* reserve(std::size_t count) {
    if (scratch.size() < count) scratch.resize(count);
    return scratch.data();
  }

 private:
  Arena& arena_;
  ParameterGradients* parameters_ = nullptr;
  std::vector<Step> steps_;
  std::vector<AlignedBuffer> gradients_;  // one for each chunk of the arena
};

std::unique_ptr<Tape> make_tape(Arena& arena);

/// Points to make_tape, or is null in a program that is linked without gradients (see src/linked):
/// the linker removes the code that records and computes them.
extern std::unique_ptr<Tape> (*const make_linked_tape)(Arena& arena);

}  // namespace glassformer
