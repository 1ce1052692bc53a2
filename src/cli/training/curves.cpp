#include "cli/training/curves.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "cli/training/fixed_decimals.hpp"

namespace glassformer {
namespace {

constexpr double width = 760, height = 284;
constexpr double plot_width = 300, plot_height = 170, top = 52;
constexpr double lefts[] = {58, 438};  // of the plots

constexpr const char* style = R"(<style>
text { font: 12px sans-serif; fill: #1f2328 }
.title { font-weight: bold }
.background { fill: #ffffff }
.grid { stroke: #d0d7de }
path { fill: none; stroke-width: 2 }
.training { stroke: #0550ae }
.held-out { stroke: #a04100; stroke-dasharray: 6 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .background { fill: #0d1117 }
  .grid { stroke: #3d444d }
  .training { stroke: #79c0ff }
  .held-out { stroke: #ffa657 }
}
</style>
)";

// A step between ticks: 1, 2 or 5 times a power of ten, so that there are 3 to 6 of them.
double tick_step(double range) {
  const double power = std::pow(10.0, std::floor(std::log10(range / 3)));
  for (const double factor : {5.0, 2.0}) {
    if (range / (power * factor) >= 3) return power * factor;
  }
  return power;
}

struct Axis {
  double low, high, step;

  // Covers the values with whole ticks.
  static Axis over(double low, double high) {
    if (high - low < 1e-6) high = low + 1e-6;
    const double step = tick_step(high - low);
    return {std::floor(low / step) * step, std::ceil(high / step) * step, step};
  }
  double share(double value) const { return (value - low) / (high - low); }
  int digits() const { return std::max(0, -static_cast<int>(std::floor(std::log10(step)))); }
};

// A number for each point; none where nothing was held out.
using Values = std::vector<std::optional<double>>;

struct Panel {
  std::string title, axis;
  Values training, held_out;
};

void add_text(std::ostream& svg, double x, double y, const std::string& attributes,
              const std::string& text) {
  svg << "<text x=\"" << fixed_decimals(x, 1) << "\" y=\"" << fixed_decimals(y, 1) << '"'
      << attributes << '>' << text << "</text>\n";
}

void add_line(std::ostream& svg, double x1, double y1, double x2, double y2,
              const std::string& kind) {
  svg << "<path class=\"" << kind << "\" d=\"M" << fixed_decimals(x1, 1) << ' '
      << fixed_decimals(y1, 1) << 'L' << fixed_decimals(x2, 1) << ' ' << fixed_decimals(y2, 1)
      << "\"/>\n";
}

class Plot {
 public:
  Plot(std::ostream& svg, double left, std::span<const TrainingPoint> points, const Panel& panel)
      : svg_(svg), left_(left), points_(points), panel_(panel) {}

  void draw() {
    std::vector<double> all;
    for (const Values* const values : {&panel_.training, &panel_.held_out}) {
      for (const auto& value : *values) {
        if (value) all.push_back(*value);
      }
    }
    const auto [low, high] = std::ranges::minmax(all);
    y_ = Axis::over(low, high);
    x_ = {0, static_cast<double>(points_.back().step), 0};
    x_.step = tick_step(x_.high);
    add_text(svg_, left_ - 44, 20, " class=\"title\"", panel_.title);
    draw_axes();
    draw_curve("training", panel_.training);
    draw_curve("held-out", panel_.held_out);
  }

 private:
  double x(double step) const { return left_ + plot_width * x_.share(step); }
  double y(double value) const { return top + plot_height * (1 - y_.share(value)); }

  void draw_axes() const {
    for (double value = y_.low; value < y_.high + y_.step / 2; value += y_.step) {
      add_line(svg_, left_, y(value), left_ + plot_width, y(value),
               "grid\" style=\"stroke-width:1");
      add_text(svg_, left_ - 6, y(value) + 4, " text-anchor=\"end\"",
               fixed_decimals(value, y_.digits()));
    }
    for (double step = 0; step < x_.high + x_.step / 100; step += x_.step) {
      add_text(svg_, x(step), top + plot_height + 18, " text-anchor=\"middle\"",
               fixed_decimals(step, 0));
    }
    add_text(svg_, left_ + plot_width / 2, top + plot_height + 38, " text-anchor=\"middle\"",
             "steps");
    add_text(svg_, left_ - 44, top - 8, "", panel_.axis);
  }

  void draw_curve(const std::string& kind, const Values& values) const {
    std::string path;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i]) continue;
      path += (path.empty() ? 'M' : 'L') +
              fixed_decimals(x(static_cast<double>(points_[i].step)), 1) + ' ' +
              fixed_decimals(y(*values[i]), 1);
    }
    // A path of one point shows nothing without its end.
    if (!path.empty()) {
      svg_ << "<path class=\"" << kind << "\" stroke-linecap=\"round\" d=\"" << path
           << (path.find('L') == std::string::npos ? "z" : "") << "\"/>\n";
    }
  }

  std::ostream& svg_;
  double left_;
  std::span<const TrainingPoint> points_;
  const Panel& panel_;
  Axis x_{}, y_{};
};

// "training from 0.69 to 0.31, held out from 0.68 to 0.35"
std::string in_words(const Panel& panel) {
  std::string text;
  const auto add = [&text](const std::string& name, const Values& values) {
    const auto has_value = [](const std::optional<double>& value) { return value.has_value(); };
    const auto first = std::ranges::find_if(values, has_value);
    if (first == values.end()) return;
    const auto last = std::ranges::find_if(values.rbegin(), values.rend(), has_value);
    if (!text.empty()) text += ", ";
    text += name + " from " + fixed_decimals(**first, 3) + " to " + fixed_decimals(**last, 3);
  };
  add("training", panel.training);
  add("held out", panel.held_out);
  return text;
}

}  // namespace

std::string draw_curves(std::span<const TrainingPoint> points, const std::string& unit) {
  Panel loss = {"Loss", "nats", {}, {}};
  Panel right = {"Right " + unit, "%", {}, {}};
  bool held_out = false;
  for (const TrainingPoint& point : points) {
    loss.training.push_back(point.loss);
    loss.held_out.push_back(point.held_out_loss);
    right.training.push_back(100 * point.accuracy);
    right.held_out.emplace_back();
    if (point.held_out_accuracy) right.held_out.back() = 100 * *point.held_out_accuracy;
    held_out = held_out || point.held_out_loss;
  }
  std::ostringstream svg;
  svg << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )" << width << ' ' << height
      << "\" width=\"" << width << "\" height=\"" << height
      << R"(" role="img" aria-labelledby="title description">)" << '\n'
      << "<title id=\"title\">Loss and right " << unit << " during training</title>\n"
      << "<desc id=\"description\">Over " << points.back().step
      << " steps. Loss in nats: " << in_words(loss) << ". Right " << unit
      << " in percent: " << in_words(right) << ".</desc>\n"
      << style << R"(<rect class="background" width="100%" height="100%" rx="6"/>)" << '\n';
  Plot(svg, lefts[0], points, loss).draw();
  Plot(svg, lefts[1], points, right).draw();
  const double legend = height - 10;
  add_line(svg, 258, legend - 4, 288, legend - 4, "training");
  add_text(svg, 294, legend, "", "training");
  if (held_out) {
    add_line(svg, 388, legend - 4, 418, legend - 4, "held-out");
    add_text(svg, 424, legend, "", "held out");
  }
  svg << "</svg>\n";
  return svg.str();
}

}  // namespace glassformer
