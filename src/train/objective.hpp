#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/split_mix.hpp"
#include "image/picture_steps.hpp"
#include "models/whole_pass.hpp"
#include "train/example.hpp"
#include "train/loss.hpp"

namespace glassformer {

/// The input of one pass, and the right answers.
struct Lesson {
  WholePass pass;
  std::vector<Target> targets;
};

using Examples = std::span<const Example* const>;

/// Turns examples into what a model has to learn from them.
class Objective {
 public:
  virtual ~Objective() = default;
  /// `random` chooses what is masked or left out; null: nothing is left out (to measure).
  virtual std::unique_ptr<Lesson> lesson(Examples examples, SplitMix64* random) const = 0;
  /// Returns how much an example counts in the mean of a step: its targets, or what is expected of
  /// a choice at random.
  virtual float weight(const Example& example) const = 0;
};

/// The class of each text, or its share of each.
class ClassObjective final : public Objective {
 public:
  /// `dropped`: the share of tokens that are left out at random. Those with the ids `special` stay,
  /// and at least one other.
  explicit ClassObjective(float dropped = 0, std::vector<std::int32_t> special = {})
      : dropped_(dropped), special_(std::move(special)) {}
  std::unique_ptr<Lesson> lesson(Examples examples, SplitMix64* random) const override;
  float weight(const Example&) const override { return 1; }

 private:
  float dropped_;
  std::vector<std::int32_t> special_;
};

/// The class of each picture.
class PictureObjective final : public Objective {
 public:
  struct Options {
    PictureSteps steps;        ///< before the model
    std::size_t channels = 1;  ///< that the model reads
    float distortion = 0;      ///< strength: see Distortion::at_random
  };
  explicit PictureObjective(Options options) : options_(std::move(options)) {}
  std::unique_ptr<Lesson> lesson(Examples examples, SplitMix64* random) const override;
  float weight(const Example&) const override { return 1; }

 private:
  Pixels read(const Example& example, SplitMix64* random) const;

  Options options_;
};

/// The class of each token that has one.
class TokenClassObjective final : public Objective {
 public:
  std::unique_ptr<Lesson> lesson(Examples examples, SplitMix64* random) const override;
  float weight(const Example& example) const override;
};

/// The tokens that were replaced (Devlin et al. 2019, section 3.1): of a share of the tokens, 80 %
/// become the mask, 10 % any token, and 10 % stay.
class MaskedObjective final : public Objective {
 public:
  struct Options {
    float share = 0.15f;
    std::int32_t mask = 0;            ///< the token that stands for a hidden one
    std::vector<bool> special = {};   ///< [V] tokens that are never hidden
    std::uint64_t measured_seed = 1;  ///< chooses the hidden tokens when it measures
  };
  explicit MaskedObjective(const Options& options) : options_(options) {}
  std::unique_ptr<Lesson> lesson(Examples examples, SplitMix64* random) const override;
  float weight(const Example& example) const override {
    return options_.share * static_cast<float>(example.ids.size());
  }

 private:
  Options options_;
};

/// Each token from those before it. The ids of an example include the first token, from which
/// nothing is predicted, and the last, which is predicted only.
class NextTokenObjective final : public Objective {
 public:
  std::unique_ptr<Lesson> lesson(Examples examples, SplitMix64* random) const override;
  float weight(const Example& example) const override {
    return static_cast<float>(example.ids.size() - 1);
  }
};

/// Each token of a translation from the source and the tokens before it.
class TranslationObjective final : public Objective {
 public:
  std::unique_ptr<Lesson> lesson(Examples examples, SplitMix64* random) const override;
  float weight(const Example& example) const override {
    return static_cast<float>(example.target.size() - 1);
  }
};

}  // namespace glassformer
