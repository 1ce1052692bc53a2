#include "text/training/unigram_trainer.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/heap_sort.hpp"
#include "base/powers.hpp"
#include "base/strings/decimal.hpp"
#include "base/strings/utf8.hpp"
#include "text/sentencepiece/normalizer.hpp"
#include "text/training/character_map_writer.hpp"
#include "text/training/character_rules.hpp"
#include "text/training/model_file.hpp"
#include "text/training/seed_pieces.hpp"
#include "text/training/unigram_estimator.hpp"
#include "text/training/word_counts.hpp"

namespace glassformer {
namespace {

using SpecialRole = SpecialPiece::Role;

constexpr std::size_t most_pieces = 100'000;
constexpr std::size_t most_code_points = 64;
constexpr std::size_t byte_pieces = 256;
constexpr std::size_t most_seeds = 1'000'000;
constexpr std::size_t seeds_per_piece = 10;
constexpr int iterations_per_pruning = 2;
constexpr double pruning_factor = 0.75;
constexpr double final_surplus = 1.1;

void check_special_pieces(const std::vector<SpecialPiece>& pieces) {
  std::set<std::string_view> texts;
  std::array<std::size_t, 4> counts{};
  for (const SpecialPiece& piece : pieces) {
    if (piece.text.empty() || !is_valid_utf8(piece.text)) {
      throw_error(ErrorCode::invalid_option,
                  {"special_pieces: expected UTF-8 text, got \"{}\"", {piece.text}});
    }
    if (byte_of_piece(piece.text) >= 0) {
      throw_error(ErrorCode::invalid_option,
                  {"special_pieces: expected no name of a byte, got \"{}\"", {piece.text}});
    }
    if (!texts.insert(piece.text).second) {
      throw_error(ErrorCode::invalid_option,
                  {"special_pieces: expected different texts, got \"{}\" twice", {piece.text}});
    }
    const auto role = static_cast<std::size_t>(piece.role);
    if (role < counts.size() && ++counts[role] > 1) {
      throw_error(ErrorCode::invalid_option,
                  {"special_pieces: expected one piece for each role, got \"{}\" in addition",
                   {piece.text}});
    }
  }
  if (counts[0] == 0) {
    throw_error(ErrorCode::invalid_option, "special_pieces: expected an unknown piece, got none");
  }
}

void check_options(const UnigramTrainingOptions& options) {
  if (options.vocab_size == 0 || options.vocab_size > most_pieces) {
    throw_error(ErrorCode::invalid_option,
                {"vocab_size: expected 1 to {}, got {}", {most_pieces, options.vocab_size}});
  }
  if (!(options.character_coverage > 0 && options.character_coverage <= 1)) {
    throw_error(ErrorCode::invalid_option,
                {"character_coverage: expected a number above 0 and up to 1, got {}",
                 {shortest_decimal(options.character_coverage)}});
  }
  if (options.longest_piece == 0 || options.longest_piece > most_code_points) {
    throw_error(ErrorCode::invalid_option, {"longest_piece: expected 1 to {}, got {}",
                                            {most_code_points, options.longest_piece}});
  }
  check_special_pieces(options.special_pieces);
}

PieceType special_type_of(SpecialRole role) {
  if (role == SpecialRole::unknown) return PieceType::unknown;
  return role == SpecialRole::symbol ? PieceType::user_defined : PieceType::control;
}

std::string byte_piece(std::size_t byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return {'<', '0', 'x', digits[byte / 16], digits[byte % 16], '>'};
}

// Trains one tokenizer.
class UnigramTrainer {
 public:
  explicit UnigramTrainer(const UnigramTrainingOptions& options);

  void read(std::span<const std::string_view> texts);
  std::vector<std::byte> train();

 private:
  std::vector<PieceEstimate> seeds(const std::vector<CharacterCount>& characters) const;
  std::vector<PieceEstimate> estimate(std::vector<PieceEstimate> seeds) const;
  std::vector<PieceEstimate> best(std::vector<PieceEstimate> pieces) const;
  std::vector<std::byte> write(const std::vector<PieceEstimate>& learned) const;
  void expect_vocabulary_for(std::size_t characters) const;
  std::size_t learned_size() const { return options_.vocab_size - special_.size(); }

  const UnigramTrainingOptions& options_;
  std::string map_;
  std::vector<Piece> special_;  // with the bytes
  std::vector<std::string> byte_texts_;
  std::vector<WordCount> words_;
};

UnigramTrainer::UnigramTrainer(const UnigramTrainingOptions& options)
    : options_(options),
      map_(write_character_map(
          normalization_rules(options.lower_case ? LetterCase::lower : LetterCase::keep))) {
  for (const SpecialPiece& piece : options.special_pieces) {
    special_.push_back({piece.text, 0, special_type_of(piece.role)});
  }
  if (!options.byte_fallback) return;
  for (std::size_t byte = 0; byte < byte_pieces; ++byte) byte_texts_.push_back(byte_piece(byte));
  for (const std::string& text : byte_texts_) special_.push_back({text, 0, PieceType::byte});
}

// Normalizes the texts as the finished tokenizer will do.
void UnigramTrainer::read(std::span<const std::string_view> texts) {
  SentencePieceModel model;
  model.pieces = special_;
  model.precompiled_charsmap = map_;
  const Normalizer normalizer(model);
  const Trie symbols = trie_of(special_, {PieceType::user_defined});
  WordCounter counter(normalizer, symbols);
  for (const std::string_view text : texts) counter.add(text);
  words_ = counter.take();
  if (words_.empty()) {
    throw_error(ErrorCode::empty_input, "texts: expected a character other than white space");
  }
}

void UnigramTrainer::expect_vocabulary_for(std::size_t characters) const {
  const std::size_t least = special_.size() + characters;
  if (options_.vocab_size >= least) return;
  throw_error(ErrorCode::invalid_option,
              {"vocab_size: expected at least {} for {} special pieces and {} characters, got {}; "
               "choose a larger one, or a smaller character_coverage",
               {least, special_.size(), characters, options_.vocab_size}});
}

std::vector<PieceEstimate> UnigramTrainer::seeds(
    const std::vector<CharacterCount>& characters) const {
  std::vector<PieceEstimate> pieces;
  double total = 0;
  const auto add = [&](std::string_view text, double weight, bool required) {
    pieces.push_back({text, weight, required});
    total += weight;
  };
  for (const CharacterCount& character : characters) {
    add(character.text, static_cast<double>(character.count), true);
  }
  const std::size_t most = std::min(most_seeds, seeds_per_piece * options_.vocab_size);
  for (const Substring& part : frequent_substrings(words_, options_.longest_piece, most)) {
    add(part.text, static_cast<double>(part.count * part.length), false);
  }
  for (PieceEstimate& piece : pieces) piece.score = logarithm(piece.score / total);
  return pieces;
}

std::vector<PieceEstimate> UnigramTrainer::estimate(std::vector<PieceEstimate> seeds) const {
  const auto wanted = static_cast<std::size_t>(final_surplus * static_cast<double>(learned_size()));
  UnigramEstimator estimator(words_, std::move(seeds));
  while (true) {
    for (int i = 0; i < iterations_per_pruning; ++i) estimator.improve();
    const std::size_t size = estimator.pieces().size();
    if (size <= wanted) return estimator.pieces();
    const auto part = static_cast<std::size_t>(pruning_factor * static_cast<double>(size));
    estimator.prune(std::max(wanted, part));
  }
}

// Returns the required pieces and the most probable others, most probable first.
std::vector<PieceEstimate> UnigramTrainer::best(std::vector<PieceEstimate> pieces) const {
  const auto more_probable = [](const PieceEstimate& a, const PieceEstimate& b) {
    return a.score != b.score ? a.score > b.score : a.text < b.text;
  };
  heap_sort(pieces.begin(), pieces.end(), [&](const PieceEstimate& a, const PieceEstimate& b) {
    return a.required != b.required ? a.required : more_probable(a, b);
  });
  pieces.resize(std::min(pieces.size(), learned_size()));
  heap_sort(pieces.begin(), pieces.end(), more_probable);
  return pieces;
}

std::vector<std::byte> UnigramTrainer::train() {
  const std::vector<WordCount> all = std::move(words_);
  const std::vector<CharacterCount> characters =
      frequent_characters(all, double{options_.character_coverage});
  expect_vocabulary_for(characters.size());
  words_ = keep_characters(all, characters);
  return write(best(estimate(seeds(characters))));
}

std::vector<std::byte> UnigramTrainer::write(const std::vector<PieceEstimate>& learned) const {
  UnigramModelFile model;
  model.pieces = special_;
  for (const PieceEstimate& piece : learned) {
    model.pieces.push_back({piece.text, static_cast<float>(piece.score), PieceType::normal});
  }
  for (std::size_t id = 0; id < options_.special_pieces.size(); ++id) {
    const SpecialPiece& piece = options_.special_pieces[id];
    const NamedPiece named{static_cast<std::int32_t>(id), piece.text};
    if (piece.role == SpecialRole::unknown) model.unknown = named;
    if (piece.role == SpecialRole::begin) model.begin = named;
    if (piece.role == SpecialRole::end) model.end = named;
    if (piece.role == SpecialRole::padding) model.padding = named;
  }
  model.character_coverage = options_.character_coverage;
  model.byte_fallback = options_.byte_fallback;
  model.precompiled_charsmap = map_;
  return write_sentencepiece_model(model);
}

}  // namespace

std::vector<std::byte> train_unigram(std::span<const std::string_view> texts,
                                     const UnigramTrainingOptions& options) {
  check_options(options);
  UnigramTrainer trainer(options);
  trainer.read(texts);
  return trainer.train();
}

}  // namespace glassformer
