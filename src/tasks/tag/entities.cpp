#include "tasks/tag/entities.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/heap_sort.hpp"

namespace glassformer {
namespace {

// A token before it is labeled.
struct EntityPiece {
  std::string word;
  std::uint32_t start, end;
  std::size_t index;
  bool continues_word;
  std::span<const float> probabilities;
};

struct Labeled {
  std::size_t label;
  float score;
  std::string word;
  std::uint32_t start, end;
  std::size_t index;
};

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) {
    text.remove_prefix(std::max<std::size_t>(valid_character_size(text), 1));
  }
  return count;
}

// Returns where the last character before `place` begins.
std::size_t last_character(std::string_view text, std::size_t place) {
  while (place > 0 && (static_cast<unsigned char>(text[--place]) & 0xC0) == 0x80) {
  }
  return place;
}

std::vector<EntityPiece> pieces_of(Utf16Cursor cursor, std::span<const LabeledToken> tokens,
                                   const ConstView& probabilities, bool marks_subwords) {
  std::vector<EntityPiece> pieces;
  const std::string_view text = cursor.text();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const LabeledToken& token = tokens[i];
    if (token.special) continue;
    const std::size_t begin = cursor.seek(token.start);
    const std::size_t end = Utf16Cursor(cursor).seek(token.end);
    const std::string_view covered = text.substr(begin, end - begin);
    // All parts of a character have the position of the character.
    const std::size_t place = token.part ? last_character(text, begin) : begin;
    const bool continues_word = marks_subwords
                                    ? code_points(token.piece) != code_points(covered)
                                    : place > 0 && text.substr(place - 1, 2).find(' ') == text.npos;
    const std::uint32_t units = begin - place == 4 ? 2 : 1;
    pieces.push_back({.word = std::string(token.unknown ? covered : token.piece),
                      .start = token.part ? token.start - units : token.start,
                      .end = token.end,
                      .index = i,
                      .continues_word = continues_word && !token.unknown,
                      .probabilities = {&probabilities(i, 0), probabilities.shape(1)}});
  }
  return pieces;
}

Labeled label_of(const EntityPiece& piece, std::span<const float> probabilities) {
  const auto best = std::ranges::max_element(probabilities);
  return {.label = static_cast<std::size_t>(best - probabilities.begin()),
          .score = *best,
          .word = piece.word,
          .start = piece.start,
          .end = piece.end,
          .index = piece.index};
}

std::vector<float> mean_of(std::span<const EntityPiece> pieces) {
  std::vector<float> mean(pieces[0].probabilities.size());
  for (std::size_t label = 0; label < mean.size(); ++label) {
    double sum = 0;
    for (const EntityPiece& piece : pieces) sum += static_cast<double>(piece.probabilities[label]);
    mean[label] = static_cast<float>(sum / static_cast<double>(pieces.size()));
  }
  return mean;
}

std::span<const float> surest_of(std::span<const EntityPiece> pieces) {
  return std::ranges::max_element(pieces, {},
                                  [](const EntityPiece& piece) {
                                    return *std::ranges::max_element(piece.probabilities);
                                  })
      ->probabilities;
}

// Joins and decodes the field `word` of all elements.
template <class Range>
std::string joined(const Range& words, const PieceRules& rules) {
  std::vector<std::string> texts;
  for (const auto& word : words) texts.push_back(word.word);
  return rules.decode(texts);
}

Labeled settle(std::span<const EntityPiece> pieces, Aggregation aggregation,
               const PieceRules& rules) {
  std::vector<float> mean;
  std::span<const float> probabilities = pieces[0].probabilities;
  if (aggregation == Aggregation::max) probabilities = surest_of(pieces);
  if (aggregation == Aggregation::average) probabilities = mean = mean_of(pieces);
  Labeled word = label_of(pieces[0], probabilities);
  word.word = joined(pieces, rules);
  word.end = pieces.back().end;
  return word;
}

std::vector<Labeled> settle_words(std::span<const EntityPiece> pieces, Aggregation aggregation,
                                  const PieceRules& rules) {
  std::vector<Labeled> words;
  while (!pieces.empty()) {
    const auto next =
        std::find_if_not(pieces.begin() + 1, pieces.end(),
                         [](const EntityPiece& piece) { return piece.continues_word; });
    const auto size = static_cast<std::size_t>(next - pieces.begin());
    words.push_back(settle(pieces.first(size), aggregation, rules));
    pieces = pieces.subspan(size);
  }
  return words;
}

// "B-PER" is B and PER. A label without B- or I- is just a tag.
bool begins(std::string_view label) { return label.starts_with("B-"); }
std::string_view tag_of(std::string_view label) {
  return begins(label) || label.starts_with("I-") ? label.substr(2) : label;
}

std::string entity_name(std::string_view label) {
  const std::size_t dash = label.find('-');
  return std::string(dash == label.npos ? label : label.substr(dash + 1));
}

Entity merge(std::span<const Labeled> group, std::span<const std::string> labels,
             const PieceRules& rules) {
  const double sum = std::accumulate(group.begin(), group.end(), 0.0, [](double so_far, auto& one) {
    return so_far + static_cast<double>(one.score);
  });
  return {.entity = entity_name(labels[group[0].label]),
          .score = static_cast<float>(sum / static_cast<double>(group.size())),
          .word = joined(group, rules),
          .start = group.front().start,
          .end = group.back().end,
          .index = {}};
}

std::vector<Entity> merge_groups(std::span<const Labeled> labeled,
                                 std::span<const std::string> labels, const PieceRules& rules) {
  std::vector<Entity> entities;
  while (!labeled.empty()) {
    const std::string_view tag = tag_of(labels[labeled[0].label]);
    const auto next =
        std::find_if_not(labeled.begin() + 1, labeled.end(), [&](const Labeled& other) {
          return tag_of(labels[other.label]) == tag && !begins(labels[other.label]);
        });
    const auto size = static_cast<std::size_t>(next - labeled.begin());
    entities.push_back(merge(labeled.first(size), labels, rules));
    labeled = labeled.subspan(size);
  }
  return entities;
}

}  // namespace

std::vector<Entity> find_entities(Utf16Cursor text, std::span<const LabeledToken> tokens,
                                  const ConstView& probabilities, const PieceRules& rules,
                                  const EntityOptions& options) {
  expect_shape("probabilities", probabilities, {tokens.size(), options.labels.size()});
  const std::vector<EntityPiece> pieces =
      pieces_of(text, tokens, probabilities, rules.marks_subwords);
  std::vector<Labeled> labeled;
  if (options.aggregation == Aggregation::none || options.aggregation == Aggregation::simple) {
    for (const EntityPiece& piece : pieces) labeled.push_back(label_of(piece, piece.probabilities));
  } else {
    labeled = settle_words(pieces, options.aggregation, rules);
  }
  std::vector<Entity> entities;
  if (options.aggregation == Aggregation::none) {
    for (Labeled& token : labeled) {
      entities.push_back({options.labels[token.label], token.score, std::move(token.word),
                          token.start, token.end, token.index});
    }
  } else {
    entities = merge_groups(labeled, options.labels, rules);
  }
  std::erase_if(entities, [&](const Entity& entity) {
    return std::ranges::find(options.ignore_labels, entity.entity) != options.ignore_labels.end();
  });
  return entities;
}

std::vector<Entity> merge_windows(std::string_view text, std::vector<Entity> entities) {
  const std::vector<std::size_t> order =
      sorted_order(entities.size(), [&](std::size_t a, std::size_t b) {
        if (entities[a].start != entities[b].start) return entities[a].start < entities[b].start;
        return entities[a].index.value_or(0) < entities[b].index.value_or(0);
      });
  Utf16Cursor cursor(text);
  const auto length_of = [&](const Entity& entity) {
    const std::size_t begin = cursor.seek(entity.start);
    return code_points(text.substr(begin, Utf16Cursor(cursor).seek(entity.end) - begin));
  };
  std::vector<Entity> merged;
  std::size_t length = 0;  // of the last merged entity
  for (const std::size_t i : order) {
    Entity& entity = entities[i];
    const std::size_t own = length_of(entity);
    const bool overlaps = !merged.empty() && (entity.index ? entity.index == merged.back().index
                                                           : entity.start < merged.back().end);
    if (!overlaps) {
      merged.push_back(std::move(entity));
      length = own;
    } else if (own > length || (own == length && entity.score > merged.back().score)) {
      merged.back() = std::move(entity);
      length = own;
    }
  }
  return merged;
}

}  // namespace glassformer
