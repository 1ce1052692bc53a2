#include "train/dictionary/dictionary_report.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "base/error.hpp"
#include "kernels/learning.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_quoted = 131'072;  // tokens
constexpr std::size_t shard_tokens = 1024;
// Quoted texts: a token stands in one where it has at least `context` others before it, or all.
constexpr std::size_t quoted_length = 48, context = 16, stride = quoted_length - context;

// A number for each pair of two others.
using Numbers = std::map<std::uint64_t, std::uint32_t>;

std::uint64_t pair_of(std::size_t first, std::size_t second) {
  return (std::uint64_t{first} << 32) | std::uint64_t{second};
}

// What is counted of a dictionary while it looks on.
struct Counts {
  std::size_t rows = 0, active = 0;
  std::vector<double> sum;  // of y, [D]
  double squares = 0, error = 0;
  std::vector<std::size_t> of_feature;
  Numbers tokens;  // how often a feature is active on a token, by both
  std::vector<float> largest;

  double variance() const {
    double variance = squares;
    for (const double each : sum) variance -= each * each / static_cast<double>(rows);
    return variance;
  }
};

class Reporter {
 public:
  Reporter(const DictionarySet& dictionaries, DictionaryRuns& runs, Pool& pool)
      : dictionaries_(dictionaries), runs_(runs), pool_(pool), counts_(dictionaries.size()) {}

  DictionaryReport measure(std::span<const Example* const> examples);
  void quote(std::span<const Example* const> examples, DictionaryReport& report);

 private:
  void count(const DictionaryRuns::Shard& shard);
  double loss_with(std::span<const Example* const> examples,
                   const DictionaryTracer::Replace& replace);
  DictionaryFacts facts(std::size_t i) const;

  // Calls use(row, active features) for the rows of a shard.
  template <class Use>
  void each_row(std::size_t i, const DictionaryRuns::Shard& shard, const Use& use) const {
    const Dictionary& dictionary = dictionaries_[i];
    const std::vector<float>& x = shard.seen.read(i);
    const std::size_t width = dictionary.config().d_model, rows = x.size() / width;
    Session session;
    const auto active = dictionary.active(const_view(x.data(), {rows, width}), session);
    for (std::size_t row = 0; row < rows; ++row) use(row, active[row]);
  }

  const DictionarySet& dictionaries_;
  DictionaryRuns& runs_;
  Pool& pool_;
  std::vector<Counts> counts_;
};

void Reporter::count(const DictionaryRuns::Shard& shard) {
  pool_.each(dictionaries_.size(), [&](std::size_t i, std::size_t) {
    const Dictionary& dictionary = dictionaries_[i];
    const std::size_t width = dictionary.config().d_model;
    Counts& counts = counts_[i];
    counts.sum.resize(width);
    counts.of_feature.resize(dictionary.config().features);
    counts.largest.resize(dictionary.config().features);
    const auto tokens = batch_of(dictionary.config(), shard.lesson.pass).ids();
    std::vector<float> guess(width);
    each_row(i, shard, [&](std::size_t row, const std::vector<ActiveFeature>& active) {
      const float* const y = shard.seen.written(i).data() + row * width;
      dictionary.write(active, guess);
      for (std::size_t c = 0; c < width; ++c) {
        const double value = double{y[c]}, left = value - double{guess[c]};
        counts.sum[c] += value;
        counts.squares += value * value;
        counts.error += left * left;
      }
      ++counts.rows;
      counts.active += active.size();
      for (const ActiveFeature& each : active) {
        ++counts.of_feature[each.feature];
        if (!tokens.empty()) {
          ++counts.tokens[pair_of(each.feature, static_cast<std::uint32_t>(tokens[row]))];
        }
        counts.largest[each.feature] = std::max(counts.largest[each.feature], each.activation);
      }
    });
  });
}

double Reporter::loss_with(std::span<const Example* const> examples,
                           const DictionaryTracer::Replace& replace) {
  LossSum sum;
  runs_(examples, replace, [&](const DictionaryRuns::Shard& shard) { sum += shard.loss; });
  return sum.mean();
}

DictionaryFacts Reporter::facts(std::size_t i) const {
  const Counts& counts = counts_[i];
  DictionaryFacts facts;
  facts.explained_variance = 1 - counts.error / std::max(counts.variance(), 1e-12);
  facts.features_per_token = static_cast<double>(counts.active) /
                             static_cast<double>(std::max<std::size_t>(counts.rows, 1));
  std::size_t dead = 0, single = 0;
  for (std::size_t f = 0; f < counts.of_feature.size(); ++f) {
    FeatureFacts& of = facts.features.emplace_back();
    const std::size_t count = counts.of_feature[f];
    of.density = static_cast<double>(count) / static_cast<double>(counts.rows);
    of.largest = counts.largest[f];
    dead += count == 0;
  }
  for (const auto& [pair, times] : counts.tokens) {
    const std::size_t f = static_cast<std::size_t>(pair >> 32);
    FeatureFacts& of = facts.features[f];
    const double share = static_cast<double>(times) / static_cast<double>(counts.of_feature[f]);
    if (share > of.share) {
      of.share = share;
      of.token = static_cast<std::int32_t>(pair & 0xffffffff);
    }
  }
  for (const FeatureFacts& of : facts.features) single += of.share > 0.5;
  const std::size_t features = facts.features.size();
  facts.dead = static_cast<double>(dead) / static_cast<double>(features);
  facts.single_token =
      static_cast<double>(single) / static_cast<double>(std::max<std::size_t>(features - dead, 1));
  return facts;
}

DictionaryReport Reporter::measure(std::span<const Example* const> examples) {
  DictionaryReport report;
  LossSum loss;
  runs_(examples, {}, [&](const DictionaryRuns::Shard& shard) {
    loss += shard.loss;
    count(shard);
  });
  report.loss = loss.mean();
  report.tokens = counts_.empty() ? 0 : counts_[0].rows;
  std::vector<std::vector<float>> means;
  for (const Counts& counts : counts_) {
    std::vector<float>& mean = means.emplace_back();
    for (const double sum : counts.sum) {
      mean.push_back(static_cast<float>(sum / static_cast<double>(counts.rows)));
    }
  }
  const auto ablate = [&](std::size_t i, const CompleteRows& y) {
    for (std::size_t row = 0; row < y.count; ++row) {
      std::ranges::copy(means[i], y.data + row * y.stride);
    }
  };
  const auto replace = [&](std::size_t i, const ConstView& x, const CompleteRows& y) {
    Session session;
    const auto active = dictionaries_[i].active(x, session);
    for (std::size_t row = 0; row < y.count; ++row) {
      dictionaries_[i].write(active[row], {y.data + row * y.stride, y.columns});
    }
  };
  constexpr std::size_t every = static_cast<std::size_t>(-1);
  const auto measure = [&](std::size_t one, DictionaryFacts& facts) {
    facts.loss_replaced =
        loss_with(examples, [&](std::size_t i, const ConstView& x, const CompleteRows& y) {
          if (i == one || one == every) replace(i, x, y);
        });
    facts.loss_ablated =
        loss_with(examples, [&](std::size_t i, const ConstView&, const CompleteRows& y) {
          if (i == one || one == every) ablate(i, y);
        });
    facts.loss_recovered =
        (facts.loss_ablated - facts.loss_replaced) / (facts.loss_ablated - report.loss);
  };
  double error = 0, variance = 0;
  for (std::size_t i = 0; i < dictionaries_.size(); ++i) {
    report.dictionaries.push_back(facts(i));
    measure(i, report.dictionaries.back());
    const DictionaryFacts& of = report.dictionaries.back();
    error += counts_[i].error;
    variance += counts_[i].variance();
    const double share = 1.0 / static_cast<double>(dictionaries_.size());
    report.all.dead += share * of.dead;
    report.all.features_per_token += share * of.features_per_token;
    report.all.single_token += share * of.single_token;
  }
  report.all.explained_variance = 1 - error / std::max(variance, 1e-12);
  measure(every, report.all);
  return report;
}

void Reporter::quote(std::span<const Example* const> examples, DictionaryReport& report) {
  // Places in what is read: the number of the sequence, and the token in it.
  std::vector<std::vector<std::vector<FeaturePlace>>> found(dictionaries_.size());
  std::vector<std::vector<std::vector<std::int32_t>>> sequences(dictionaries_.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i].resize(dictionaries_[i].config().features);
  runs_(examples, {}, [&](const DictionaryRuns::Shard& shard) {
    pool_.each(dictionaries_.size(), [&](std::size_t i, std::size_t) {
      const Batch& batch = batch_of(dictionaries_[i].config(), shard.lesson.pass);
      if (batch.size() == 0) return;  // pictures
      std::size_t sequence = 0;
      const auto first = static_cast<std::uint32_t>(sequences[i].size());
      for (std::size_t s = 0; s < batch.size(); ++s) {
        sequences[i].emplace_back(batch.ids(s).begin(), batch.ids(s).end());
      }
      each_row(i, shard, [&](std::size_t row, const std::vector<ActiveFeature>& active) {
        while (row >= batch.start(sequence) + batch.length(sequence)) ++sequence;
        for (const ActiveFeature& each : active) {
          found[i][each.feature].push_back({first + static_cast<std::uint32_t>(sequence),
                                            static_cast<std::uint32_t>(row - batch.start(sequence)),
                                            each.activation});
        }
      });
    });
  });
  Numbers numbers;  // of the quoted texts, by sequence and part
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool decoder = dictionaries_[i].config().in_decoder();
    for (std::size_t f = 0; f < found[i].size(); ++f) {
      std::vector<FeaturePlace>& places = found[i][f];
      std::ranges::stable_sort(places, std::greater(), &FeaturePlace::activation);
      std::vector<std::size_t> chosen;
      for (std::size_t k = 0; k < std::min<std::size_t>(3, places.size()); ++k) chosen.push_back(k);
      for (std::size_t tenth = 1; tenth < 10; tenth += 2) {
        const std::size_t k = places.size() * tenth / 10;
        if (!chosen.empty() && k > chosen.back()) chosen.push_back(k);
      }
      for (const std::size_t k : chosen) {
        FeaturePlace place = places[k];
        const std::vector<std::int32_t>& ids = sequences[i][place.text];
        const std::uint32_t chunk =
            place.token < context ? 0
                                  : static_cast<std::uint32_t>((place.token - context) / stride);
        const auto [entry, fresh] =
            numbers.try_emplace(pair_of(2 * std::size_t{place.text} + (decoder ? 1 : 0), chunk),
                                static_cast<std::uint32_t>(report.texts.size()));
        if (fresh) {
          const std::size_t begin = chunk * stride,
                            end = std::min(begin + quoted_length, ids.size());
          report.texts.emplace_back(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                    ids.begin() + static_cast<std::ptrdiff_t>(end));
        }
        place.token -= static_cast<std::uint32_t>(chunk * stride);
        place.text = entry->second;
        report.dictionaries[i].features[f].places.push_back(place);
      }
    }
  }
}

}  // namespace

DictionaryReport report_on(const Model& model, const Objective& objective,
                           const DictionarySet& dictionaries, std::span<const Example> examples,
                           std::span<const Example> quoted, Pool& pool) {
  DictionaryRuns runs(model, objective, dictionaries, shard_tokens, pool);
  Reporter reporter(dictionaries, runs, pool);
  DictionaryReport report = reporter.measure(some_of(examples, most_measured));
  reporter.quote(some_of(quoted, most_quoted), report);
  return report;
}

}  // namespace glassformer
