// One model in several sessions.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <vector>

#include "support/golden.hpp"

namespace glassformer::test {
namespace {

using Values = std::vector<float>;

// Returns all values of a run.
Values all_numbers(const EncoderModel::Output& output) {
  Values values(output.logits.begin(), output.logits.end());
  for (const TracedTensor& tensor : output.traces[0]) {
    values.insert(values.end(), tensor.data.begin(), tensor.data.end());
  }
  return values;
}

// A translation of one text. Its target is fed token by token.
class ForcedTranslation {
 public:
  ForcedTranslation(const TranslationGolden& golden, std::size_t text, Session& session)
      : model_(*golden.model),
        target_(golden.target(text)),
        state_(model_.begin(model_.encode(golden.batch(text), {}, session),
                            {.nodes = 24, .positions = 24, .rows = 1}, {.attention = true},
                            session)) {}

  // Feeds the next token. Returns false if no token was left.
  bool step() {
    const std::size_t fed = state_.tree().size();
    if (fed == target_.size()) return false;
    const Extension next = {.parent = fed == 0 ? no_parent : static_cast<NodeIndex>(fed - 1),
                            .id = target_[fed]};
    const View hidden = model_.decode(state_, {&next, 1});
    const View logits = model_.project(const_view(hidden), state_.session());
    values_.insert(values_.end(), logits.data(), logits.data() + logits.size());
    return true;
  }

  // Returns all logits, and the cross-attention of all tokens.
  Values all_numbers() const {
    Values values = values_;
    const Values cross = state_.cross_attention(static_cast<NodeIndex>(target_.size() - 1)).data;
    values.insert(values.end(), cross.begin(), cross.end());
    return values;
  }

 private:
  const Seq2Seq& model_;
  std::vector<std::int32_t> target_;
  DecodingState state_;
  Values values_;
};

}  // namespace

TEST_CASE("two alternating sessions give a classifier's results, bit for bit", "[session]") {
  const Golden golden(GENERATE(from_range(golden_names())));
  INFO(golden.name);
  const TraceRequest request = {.names = anything};
  const std::size_t texts = golden.batch().size();
  std::vector<Values> expected;
  for (std::size_t text = 0; text < texts; ++text) {
    expected.push_back(all_numbers(golden.run(golden.batch(text), request)));
  }
  Session first, second;
  for (std::size_t text = 0; text < texts; ++text) {  // they read the texts in opposite orders
    const std::size_t other = texts - 1 - text;
    CHECK(all_numbers((*golden.model)(golden.batch(text), request, first)) == expected[text]);
    CHECK(all_numbers((*golden.model)(golden.batch(other), request, second)) == expected[other]);
  }
}

TEST_CASE("two alternating sessions give a translator's results, bit for bit", "[session]") {
  const TranslationGolden golden(GENERATE(from_range(translation_golden_names())));
  INFO(golden.name);
  std::vector<Values> expected;
  for (const std::size_t text : {0u, 2u}) {
    ForcedTranslation alone(golden, text, golden.session);
    while (alone.step()) {
    }
    expected.push_back(alone.all_numbers());
  }
  Session first, second;
  ForcedTranslation a(golden, 0, first), b(golden, 2, second);
  bool more = true;
  while (more) {
    more = a.step();
    more = b.step() || more;
  }
  CHECK(a.all_numbers() == expected[0]);
  CHECK(b.all_numbers() == expected[1]);
}

}  // namespace glassformer::test
