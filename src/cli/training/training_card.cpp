#include "cli/training/training_card.hpp"

#include <sstream>

#include "base/strings/printable.hpp"
#include "cli/training/fixed_decimals.hpp"

namespace glassformer {

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string code(const std::string& name) {
  std::string text = printable(name);
  for (char& character : text) {
    if (character == '`' || character == '|') character = '?';
  }
  return '`' + text + '`';
}

void add_options(std::ostream& text, const TrainingCard& card) {
  for (const auto& [name, value] : card.options) {
    text << "| " << code(name) << " | " << printable(value) << " |\n";
  }
}

namespace {

void add_row(std::ostream& text, const std::string& kind, double loss, double accuracy) {
  text << "| " << kind << " | " << fixed_decimals(loss, 4) << " | "
       << fixed_decimals(100 * accuracy, 2) << " % |\n";
}

}  // namespace

std::string to_markdown(const TrainingCard& card) {
  const TrainingPoint& last = card.points.back();
  std::ostringstream text;
  text << "# " << printable(card.name) << "\n\nA model for " << card.task << " with "
       << grouped(card.parameters) << " parameters. `glassformer train` made it from "
       << code(card.start) << " and " << grouped(card.examples) << " examples of "
       << code(card.data) << ", in " << grouped(last.step) << " steps, " << grouped(card.tokens)
       << " tokens and " << grouped(static_cast<std::uint64_t>(card.seconds + 0.5))
       << " seconds.\n\n"
       << "| examples | loss, nats | right " << card.unit << " |\n| --- | ---: | ---: |\n";
  add_row(text, "training, the last steps", last.loss, last.accuracy);
  if (last.held_out_loss) {
    add_row(text, "held out, " + grouped(card.held_out), *last.held_out_loss,
            *last.held_out_accuracy);
  }
  text << "\nThe loss of training includes dropout and label smoothing.";
  if (last.held_out_loss) {
    text << " Examples held out are of the same file, and were not learned. They measure the "
            "averaged weights, which are those in this folder.";
  }
  text << "\n\n![Loss and right " << card.unit << " during training](" << card.curves_file
       << ")\n\n## Options\n\n| option | value |\n| --- | --- |\n";
  add_options(text, card);
  return text.str();
}

}  // namespace glassformer
