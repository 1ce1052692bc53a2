#include "explain/patching/activation_patching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "explain/encoder_gradients.hpp"
#include "explain/interventions/row_edits.hpp"
#include "explain/traced.hpp"

namespace glassformer {
namespace {

using Kind = PatchingSite::Kind;

// If the two answers differ by less, there are no shares.
constexpr float least_difference = 0.5f;

const char* tensor_of(Kind kind) {
  switch (kind) {
    case Kind::residual:
      return "input";
    case Kind::attention:
      return "self_attn.output";
    case Kind::feed_forward:
      return "fc2";
    case Kind::head:
      return "self_attn.context";
    case Kind::query:
      return "self_attn.q";
    case Kind::key:
      return "self_attn.k";
    case Kind::value:
      return "self_attn.v";
  }
  return "";
}

float answer_of(const EncoderRunner& model, ExplainedText text, const Contrast& contrast) {
  text.positions.clear();
  return static_cast<float>(contrast.of(run_input(model, text, {}).logits.data()));
}

// Returns a site's tensor per row, [tokens, columns]; for a head, only that head's columns.
std::vector<std::vector<float>> tensors_of_rows(std::span<const TracedTensor> trace,
                                                std::size_t layers, const PatchingSite& site) {
  std::vector<std::vector<float>> rows;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const TracedTensor& tensor =
        find_traced(trace, encoder_layer_name(layer, tensor_of(site.kind)));
    if (site.kind != Kind::head) {
      rows.push_back(tensor.data);
      continue;
    }
    std::vector<float>& row = rows.emplace_back();
    const std::size_t heads = tensor.shape[1], d_head = tensor.shape[2];
    for (std::size_t token = 0; token < tensor.shape[0]; ++token) {
      const float* from = tensor.data.data() + (token * heads + site.head) * d_head;
      row.insert(row.end(), from, from + d_head);
    }
  }
  if (site.kind == Kind::residual) {
    rows.push_back(find_traced(trace, encoder_layer_name(layers - 1, "output")).data);
  }
  return rows;
}

}  // namespace

float PatchingTable::delta(std::size_t row, std::size_t cell) const {
  return values[row * cells + cell] - base;
}

std::optional<float> PatchingTable::share(std::size_t row, std::size_t cell) const {
  if (!(std::abs(donor - base) >= least_difference)) return std::nullopt;
  return delta(row, cell) / (donor - base);
}

PatchingTable empty_table(const TokenAlignment& aligned, std::span<const std::size_t> cells,
                          std::size_t rows) {
  PatchingTable table;
  for (std::size_t token = 0; token < aligned.donor_of.size(); ++token) {
    const std::size_t cell = cells.empty() ? token : cells[token];
    if (cell >= table.members.size()) table.members.resize(cell + 1);
    table.members[cell].push_back(token);
  }
  for (const std::vector<std::size_t>& members : table.members) {
    table.unpaired.push_back(std::ranges::none_of(
        members, [&](std::size_t token) { return aligned.donor_of[token].has_value(); }));
  }
  table.rows = rows;
  table.cells = table.members.size();
  table.values.assign(table.rows * table.cells, std::numeric_limits<float>::quiet_NaN());
  return table;
}

ActivationPatching::ActivationPatching(const EncoderRunner& model, PatchingTexts texts,
                                       const PatchingSite& site, std::optional<std::size_t> label)
    : model_(model), texts_(std::move(texts)), site_(site), base_{.layers = 0} {
  const StackConfig& config = model->encoder().stack().config();
  const HeadConfig& head = model->head_config();
  if (head.kind != HeadKind::sequence_classes) {
    throw_error(ErrorCode::unsupported,
                "activation_patching: expected a model that classifies texts");
  }
  if (site.kind == Kind::head && site.head >= config.n_heads()) {
    throw_error(ErrorCode::invalid_option,
                {"head: expected a number below {}, got {}", {config.n_heads(), site.head}});
  }
  const TokenAlignment& aligned = texts_.alignment;
  if (aligned.columns > config.max_length) {
    throw_error(ErrorCode::invalid_option,
                {"pair: expected texts that take at most {} positions side by side, got {}",
                 {config.max_length, aligned.columns}});
  }
  texts_.base.positions = aligned.base_columns;
  texts_.donor.positions = aligned.donor_columns;
  table_ = empty_table(aligned, texts_.cells,
                       config.layers.size() + (site.kind == Kind::residual ? 1 : 0));

  std::vector<std::string> names = stream_tensors(config.layers.size());
  names.emplace_back("logits");
  if (site.kind != Kind::residual) {
    names.push_back("encoder.layers.*." + std::string(tensor_of(site.kind)));
  }
  const std::vector<TracedTensor> base = trace(model, texts_.base, names);
  const std::vector<TracedTensor> donor = trace(model, texts_.donor, names);
  base_ = stream_of(base, config.layers.size());
  replaced_ = tensors_of_rows(base, config.layers.size(), site);
  carried_ = tensors_of_rows(donor, config.layers.size(), site);
  const std::vector<float>& logits = find_traced(base, "logits").data;
  expect_finite(logits);
  contrast_ = contrast_for(label.value_or(largest(logits)), head.outputs);
  table_.label = contrast_.label;
  table_.base = static_cast<float>(contrast_.of(logits.data()));
  table_.donor = static_cast<float>(contrast_.of(find_traced(donor, "logits").data.data()));
  table_.plain_base = answer_of(model, texts_.base, contrast_);
  table_.plain_donor = answer_of(model, texts_.donor, contrast_);
}

// Estimates how much a cell changes the number. `slopes`: the gradients of the row's vectors,
// [tokens, columns].
std::optional<double> ActivationPatching::estimate(std::size_t row, std::size_t cell,
                                                   std::span<const float> slopes) const {
  const std::size_t columns = replaced_[row].size() / texts_.base.tokens();
  std::optional<double> sum;
  for (const std::size_t token : table_.members[cell]) {
    const std::optional<std::size_t> donor = texts_.alignment.donor_of[token];
    if (!donor && site_.kind == Kind::residual) return std::nullopt;
    if (!donor) continue;
    const float* slope = slopes.data() + token * columns;
    const float* there = carried_[row].data() + *donor * columns;
    const float* here = replaced_[row].data() + token * columns;
    sum = sum.value_or(0) + dot(slope, there, columns) - dot(slope, here, columns);
  }
  return sum;
}

void ActivationPatching::preview() {
  std::vector<std::string> names = stream_tensors(base_.layers);
  if (site_.kind != Kind::residual) {
    names = {"encoder.layers.*." + std::string(tensor_of(site_.kind))};
  }
  const Gradients gradients = encoder_gradients(model_, texts_.base, contrast_, names);
  const auto slopes = tensors_of_rows(gradients.tensors, base_.layers, site_);
  for (std::size_t row = 0; row < table_.rows; ++row) {
    for (std::size_t cell = 0; cell < table_.cells; ++cell) {
      const std::optional<double> change = estimate(row, cell, slopes[row]);
      float& value = table_.values[row * table_.cells + cell];
      if (change) value = table_.base + static_cast<float>(*change);
    }
  }
}

// Returns whether the cell's vectors are equal in both texts: carrying them changes nothing.
bool ActivationPatching::same_in_both(std::size_t row, std::size_t cell) const {
  const std::size_t columns = replaced_[row].size() / texts_.base.tokens();
  return std::ranges::all_of(table_.members[cell], [&](std::size_t token) {
    const std::optional<std::size_t> donor = texts_.alignment.donor_of[token];
    if (!donor) return site_.kind != Kind::residual;
    const float* from = carried_[row].data() + *donor * columns;
    return std::equal(from, from + columns, replaced_[row].data() + token * columns);
  });
}

bool ActivationPatching::step(std::size_t tokens) {
  const std::size_t all = table_.values.size();
  std::size_t next = table_.done;
  if (next == all) return false;
  const std::size_t row = next / table_.cells;
  std::vector<std::size_t> cells;
  for (; next < all && next / table_.cells == row; ++next) {
    const std::size_t cell = next % table_.cells;
    if (table_.unpaired[cell] && site_.kind != Kind::residual) continue;
    if (same_in_both(row, cell)) {
      table_.values[next] = table_.base;
      continue;
    }
    if (!cells.empty() && (cells.size() + 1) * base_.tokens > tokens) break;
    cells.push_back(cell);
  }
  table_.done = next;
  if (!cells.empty()) run(row, cells);
  return next < all;
}

void ActivationPatching::run(std::size_t row, std::span<const std::size_t> cells) {
  const std::size_t size = base_.tokens * base_.d_model;
  const std::size_t columns = replaced_[row].size() / base_.tokens;
  Sequences sequences;
  std::vector<float> states;
  std::vector<RowEdit> edits;
  for (std::size_t s = 0; s < cells.size(); ++s) {
    const float* from = base_.row(row, 0).data();
    states.insert(states.end(), from, from + size);
    std::vector<std::size_t> gone;
    for (const std::size_t token : table_.members[cells[s]]) {
      const std::optional<std::size_t> donor = texts_.alignment.donor_of[token];
      if (!donor) {
        if (site_.kind == Kind::residual) gone.push_back(token);
        continue;
      }
      const float* values = carried_[row].data() + *donor * columns;
      if (site_.kind == Kind::residual) {
        std::copy_n(values, columns, states.data() + s * size + token * columns);
      } else {
        RowEdit& edit = edits.emplace_back();
        edit = {.sequence = s, .token = token, .values = values};
        if (site_.kind == Kind::head) edit.head = site_.head;
      }
    }
    sequences.add(base_.tokens, gone);
  }
  std::vector<std::size_t> positions;
  for (std::size_t s = 0; s < cells.size(); ++s) {
    const std::vector<std::size_t>& own = texts_.base.positions;
    positions.insert(positions.end(), own.begin(), own.end());
  }
  sequences.set_positions(std::move(positions));
  RowEditor editor(encoder_layer_name(row, tensor_of(site_.kind)), sequences, edits);
  const ConstView view = const_view(states.data(), {states.size() / base_.d_model, base_.d_model});
  const Tensor logits = model_.resume(sequences, row, view, edits.empty() ? nullptr : &editor);
  for (std::size_t s = 0; s < cells.size(); ++s) {
    table_.values[row * table_.cells + cells[s]] = static_cast<float>(contrast_.of(&logits(s, 0)));
  }
}

}  // namespace glassformer
