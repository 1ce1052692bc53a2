#include "train/objective.hpp"

#include <algorithm>
#include <functional>

#include "train/distortion.hpp"

namespace glassformer {
namespace {

// Makes rows of `ids` targets: row `first_row` + i predicts the token after id i.
void add_next_tokens(std::span<const std::int32_t> ids, std::size_t first_row,
                     std::vector<Target>& targets) {
  for (std::size_t i = 1; i < ids.size(); ++i) {
    targets.push_back({.row = first_row + i - 1, .label = ids[i]});
  }
}

}  // namespace

std::unique_ptr<Lesson> ClassObjective::lesson(Examples examples, SplitMix64* random) const {
  Batch texts;
  std::vector<Target> targets;
  std::vector<std::int32_t> ids, types;
  const auto is_special = [this](std::int32_t id) {
    return std::ranges::find(special_, id) != special_.end();
  };
  for (const Example* const example : examples) {
    ids.clear();
    types.clear();
    auto left = std::ranges::count_if(example->ids, std::not_fn(is_special));
    bool any = false;  // other than special ones
    for (std::size_t i = 0; i < example->ids.size(); ++i) {
      const std::int32_t id = example->ids[i];
      if (!is_special(id)) {
        const bool last_chance = !any && --left == 0;
        if (random && !last_chance && random->uniform() < dropped_) continue;
        any = true;
      }
      ids.push_back(id);
      if (!example->types.empty()) types.push_back(example->types[i]);
    }
    texts.add(ids, {}, types);
    targets.push_back({.row = targets.size(), .label = example->label, .shares = example->shares});
  }
  return std::unique_ptr<Lesson>(new Lesson{WholePass(std::move(texts)), std::move(targets)});
}

Pixels PictureObjective::read(const Example& example, SplitMix64* random) const {
  auto [values, height, width, region] =
      prepare(*example.picture, options_.steps, options_.channels);
  Pixels pixels = {.values = std::move(values), .height = height, .width = width};
  if (!random || options_.distortion == 0) return pixels;
  const Distortion distortion = Distortion::at_random(options_.distortion, height, width, *random);
  std::vector<float> plain(height * width);
  for (std::size_t channel = 0; channel < options_.channels; ++channel) {
    const std::span values_of =
        std::span(pixels.values).subspan(channel * plain.size(), plain.size());
    std::ranges::copy(values_of, plain.begin());
    distort(plain, height, width, distortion, values_of);
  }
  return pixels;
}

std::unique_ptr<Lesson> PictureObjective::lesson(Examples examples, SplitMix64* random) const {
  Pictures pictures;
  std::vector<Target> targets;
  for (const Example* const example : examples) {
    pictures.add(read(*example, random), example->patches);
    targets.push_back({.row = targets.size(), .label = example->label});
  }
  return std::unique_ptr<Lesson>(new Lesson{WholePass(std::move(pictures)), std::move(targets)});
}

std::unique_ptr<Lesson> TokenClassObjective::lesson(Examples examples, SplitMix64*) const {
  Batch texts;
  std::vector<Target> targets;
  std::vector<std::size_t> rows;
  for (const Example* const example : examples) {
    for (std::size_t i = 0; i < example->labels.size(); ++i) {
      if (example->labels[i] < 0) continue;
      targets.push_back({.row = rows.size(), .label = example->labels[i]});
      rows.push_back(texts.tokens() + i);
    }
    texts.add(example->ids, {}, example->types);
  }
  return std::unique_ptr<Lesson>(
      new Lesson{WholePass(std::move(texts), std::move(rows)), std::move(targets)});
}

float TokenClassObjective::weight(const Example& example) const {
  return static_cast<float>(
      std::ranges::count_if(example.labels, [](std::int32_t label) { return label >= 0; }));
}

std::unique_ptr<Lesson> MaskedObjective::lesson(Examples examples, SplitMix64* random) const {
  SplitMix64 measured(options_.measured_seed);
  SplitMix64& chance = random ? *random : measured;
  Batch texts;
  std::vector<Target> targets;
  std::vector<std::size_t> rows;
  const std::vector<bool>& special = options_.special;
  const auto any_piece = [&] {
    for (;;) {
      const std::uint64_t id = chance.next() % special.size();
      if (!special[static_cast<std::size_t>(id)]) return static_cast<std::int32_t>(id);
    }
  };
  for (const Example* const example : examples) {
    std::vector<std::int32_t> ids = example->ids;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (special[static_cast<std::size_t>(ids[i])] || chance.uniform() >= options_.share) continue;
      targets.push_back({.row = rows.size(), .label = ids[i]});
      rows.push_back(texts.tokens() + i);
      const float fate = chance.uniform();
      if (fate < 0.8f) {
        ids[i] = options_.mask;
      } else if (fate < 0.9f) {
        ids[i] = any_piece();
      }
    }
    texts.add(ids, {}, example->types);
  }
  return std::unique_ptr<Lesson>(
      new Lesson{WholePass(std::move(texts), std::move(rows)), std::move(targets)});
}

std::unique_ptr<Lesson> NextTokenObjective::lesson(Examples examples, SplitMix64*) const {
  Batch texts;
  std::vector<Target> targets;
  for (const Example* const example : examples) {
    add_next_tokens(example->ids, texts.tokens(), targets);
    texts.add(std::span(example->ids).first(example->ids.size() - 1));
  }
  return std::unique_ptr<Lesson>(
      new Lesson{WholePass(Batch(), std::move(texts)), std::move(targets)});
}

std::unique_ptr<Lesson> TranslationObjective::lesson(Examples examples, SplitMix64*) const {
  Batch sources, translations;
  std::vector<Target> targets;
  for (const Example* const example : examples) {
    sources.add(example->ids);
    add_next_tokens(example->target, translations.tokens(), targets);
    translations.add(std::span(example->target).first(example->target.size() - 1));
  }
  return std::unique_ptr<Lesson>(
      new Lesson{WholePass(std::move(sources), std::move(translations)), std::move(targets)});
}

}  // namespace glassformer
