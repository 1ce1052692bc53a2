#include "cli/training/dictionary_card.hpp"

#include <sstream>

#include "base/strings/printable.hpp"
#include "cli/training/fixed_decimals.hpp"

namespace glassformer {
namespace {

std::string percent(double share) { return fixed_decimals(100 * share, 1) + " %"; }

void add_row(std::ostream& text, const std::string& name, const DictionaryFacts& facts) {
  text << "| " << name << " | " << percent(facts.explained_variance) << " | "
       << fixed_decimals(facts.loss_replaced, 3) << " | " << fixed_decimals(facts.loss_ablated, 3)
       << " | " << percent(facts.loss_recovered) << " | " << percent(facts.dead) << " | "
       << fixed_decimals(facts.features_per_token, 1) << " | " << percent(facts.single_token)
       << " |\n";
}

}  // namespace

std::string dictionary_card(const TrainingCard& card, const DictionaryReport& report,
                            const std::vector<DictionaryConfig>& dictionaries) {
  std::ostringstream text;
  text
      << "# " << printable(card.name) << "\n\n"
      << "Features of the numbers inside " << code(card.start) << ". `glassformer train --lessons "
      << "dictionary` made them from " << grouped(card.examples) << " examples of "
      << code(card.data) << ", in " << grouped(card.points.back().step) << " steps, "
      << grouped(card.tokens) << " tokens and "
      << grouped(static_cast<std::uint64_t>(card.seconds + 0.5)) << " seconds.\n\n"
      << "## What they are worth\n\nMeasured on " << grouped(report.tokens)
      << " tokens that were not learned, with the 8-bit integers of this folder. The loss of the "
         "model as it is: "
      << fixed_decimals(report.loss, 3)
      << ". Its loss with what the features say in place of the model's own numbers, beside that "
         "with their mean, gives the loss recovered: 0 % is no better than the mean, 100 % as good "
         "as the model.\n\n"
      << "| written in place of | variance explained | loss | with the mean | loss recovered | "
         "features never active | active per token | of one token |\n"
      << "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (std::size_t i = 0; i < dictionaries.size(); ++i) {
    add_row(text, code(dictionaries[i].writes), report.dictionaries[i]);
  }
  if (dictionaries.size() > 1) add_row(text, "all at once", report.all);
  text << "\nA feature counts as one of one token if more than half of the tokens that excite it "
          "are the same. ";
  if (report.all.single_token > 0.5) {
    text << "Here most features are: they tell little more than which token is read.";
  } else {
    text << "Here " << percent(report.all.single_token) << " are.";
  }
  text << "\n\n![Loss and explained variance during training](" << card.curves_file
       << ")\n\n## Options\n\n| option | value |\n| --- | --- |\n";
  add_options(text, card);
  return text.str();
}

}  // namespace glassformer
