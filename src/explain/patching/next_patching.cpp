#include "explain/patching/next_patching.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "explain/explained_text.hpp"
#include "explain/next_gradients.hpp"
#include "explain/patching/activation_patching.hpp"
#include "explain/traced.hpp"

namespace glassformer {
namespace {

// Returns a row of a matrix.
std::span<const float> row_of(const TracedTensor& tensor, std::size_t row) {
  return std::span(tensor.data).subspan(row * tensor.shape[1], tensor.shape[1]);
}

// Returns a patch of a matrix that replaces `tokens`, or all rows, by these rows of another.
Patch rows_patch(std::string name, Patch::Selection tokens, const TracedTensor& from,
                 std::span<const std::size_t> rows) {
  Patch patch = {
      .name = std::move(name), .tokens = std::move(tokens), .shape = {rows.size(), from.shape[1]}};
  for (const std::size_t row : rows) {
    const std::span<const float> values = row_of(from, row);
    patch.value.insert(patch.value.end(), values.begin(), values.end());
  }
  return patch;
}

bool has_tensor(const WriterRunner& model, std::string_view name) {
  return std::ranges::any_of(model->tensors(model.session),
                             [&](const ModelTensor& tensor) { return tensor.name == name; });
}

std::vector<Patch> joined(std::vector<Patch> patches, std::vector<Patch> more) {
  std::ranges::move(more, std::back_inserter(patches));
  return patches;
}

}  // namespace

const StackConfig& config_of(const WriterRunner& model, PatchedStack stack) {
  return stack == PatchedStack::encoder ? model.translator().encoder().stack().config()
                                        : model->decoder().stack().config();
}

NextPatching::NextPatching(const WriterRunner& model, NextPatchingTexts texts)
    : model_(model), texts_(std::move(texts)) {
  const TokenAlignment& aligned = texts_.alignment;
  table_ = empty_table(aligned, texts_.cells, config().layers.size() + 1);
  base_positions_ = positions_of(aligned.base_columns);
  donor_positions_ = positions_of(aligned.donor_columns);
}

std::string_view NextPatching::stack_name() const {
  return texts_.stack == PatchedStack::encoder ? "encoder" : "decoder";
}

std::string NextPatching::row_name(std::size_t row) const {
  const bool last = row == config().layers.size();
  return layer_name(stack_name(), last ? row - 1 : row, last ? "output" : "input");
}

// Reads a text to its next token. Traces tensors of the patched stack.
NextTokenRun NextPatching::run(std::span<const std::int32_t> ids, std::span<const Patch> patches,
                               std::vector<std::string> names) const {
  TraceRequest request = {.names = std::move(names),
                          .patches = std::vector<Patch>(patches.begin(), patches.end())};
  if (texts_.stack == PatchedStack::decoder) return run_to_next_token(model_, {ids}, request);
  Batch source;
  source.add(ids);
  Seq2Seq::Encoded encoded = model_.translator().encode(source, request, model_.session);
  NextTokenRun run;
  if (!request.names.empty()) run.trace = std::move(encoded.traces[0]);
  request.names.clear();
  run.logits = run_to_next_token(model_, {decoded_, &encoded}, request).logits;
  return run;
}

float NextPatching::number(std::span<const std::int32_t> ids,
                           std::span<const Patch> patches) const {
  return static_cast<float>(contrast_.of(run(ids, patches).logits.data()));
}

// Returns the patch that moves a text's tokens to these positions. The rows of the table are read
// from a run of as many tokens.
std::vector<Patch> NextPatching::positions_of(std::span<const std::size_t> columns) const {
  std::string name(stack_name());
  name += ".embed_positions";
  const std::size_t count = texts_.alignment.columns;
  if (columns.empty() || columns.back() == columns.size() - 1) return {};  // its own positions
  if (count > config().max_length || !has_tensor(model_, name)) return {};
  const std::vector<std::int32_t> any(count, texts_.base[0]);
  std::vector<TracedTensor> trace;
  if (texts_.stack == PatchedStack::encoder) {
    Batch source;
    source.add(any);
    trace =
        std::move(model_.translator().encode(source, {.names = {name}}, model_.session).traces[0]);
  } else {
    trace = run_to_next_token(model_, {any}, {.names = {name}}).trace;
  }
  return {rows_patch(name, {}, find_traced(trace, name), columns)};
}

void NextPatching::read(std::vector<std::int32_t> decoded) {
  decoded_ = std::move(decoded);
  const std::vector<std::string> names = stream_tensors(config().layers.size(), stack_name());
  const auto read = [&](std::span<const std::int32_t> ids, std::span<const Patch> positions,
                        std::vector<TracedTensor>& rows) {
    NextTokenRun seen = run(ids, positions, names);
    expect_finite(seen.logits);
    for (std::size_t row = 0; row < table_.rows; ++row) {
      rows.push_back(find_traced(seen.trace, row_name(row)));
    }
    return std::move(seen.logits);
  };
  base_logits_ = read(texts_.base, base_positions_, base_);
  donor_logits_ = read(texts_.donor, donor_positions_, donor_);
}

void NextPatching::compare(Contrast contrast) {
  contrast_ = std::move(contrast);
  table_.label = contrast_.label;
  table_.base = static_cast<float>(contrast_.of(base_logits_.data()));
  table_.donor = static_cast<float>(contrast_.of(donor_logits_.data()));
  table_.plain_base = base_positions_.empty() ? table_.base : number(texts_.base, {});
  table_.plain_donor = donor_positions_.empty() ? table_.donor : number(texts_.donor, {});
}

void NextPatching::preview() {
  const std::vector<std::string> names = stream_tensors(config().layers.size(), stack_name());
  Gradients gradients;
  if (texts_.stack == PatchedStack::encoder) {
    Seq2Seq::Encoded encoded;
    encoded.sources.add(texts_.base);
    gradients =
        next_token_gradients(model_, {decoded_, &encoded}, contrast_, names, base_positions_);
  } else {
    gradients = next_token_gradients(model_, {texts_.base}, contrast_, names, base_positions_);
  }
  for (std::size_t row = 0; row < table_.rows; ++row) {
    const TracedTensor& slopes = find_traced(gradients.tensors, row_name(row));
    for (std::size_t cell = 0; cell < table_.cells; ++cell) {
      double change = 0;
      bool known = true;  // hiding a token has no estimate
      for (const std::size_t token : table_.members[cell]) {
        const std::optional<std::size_t> donor = texts_.alignment.donor_of[token];
        known = known && donor;
        if (!donor) continue;
        const float* slope = row_of(slopes, token).data();
        const std::span<const float> there = row_of(donor_[row], *donor);
        change += dot(slope, there.data(), there.size()) -
                  dot(slope, row_of(base_[row], token).data(), there.size());
      }
      if (!known) continue;
      table_.values[row * table_.cells + cell] = table_.base + static_cast<float>(change);
    }
  }
}

// Hides tokens as keys from a layer of the stack on, and from a decoder after it.
void NextPatching::hide(const std::vector<std::size_t>& tokens, std::size_t from,
                        std::vector<Patch>& patches) const {
  const auto add = [&](std::string name) {
    patches.push_back({.name = std::move(name),
                       .keys = tokens,
                       .value = {-std::numeric_limits<float>::infinity()}});
  };
  for (std::size_t layer = from; layer < config().layers.size(); ++layer) {
    add(layer_name(stack_name(), layer, "self_attn.scores"));
  }
  if (texts_.stack == PatchedStack::decoder) return;
  for (std::size_t layer = 0; layer < model_->decoder().stack().config().layers.size(); ++layer) {
    add(layer_name("decoder", layer, "encoder_attn.scores"));
  }
}

std::vector<Patch> NextPatching::patches_of(std::size_t row, std::size_t cell) const {
  std::vector<std::size_t> paired, donors, gone;
  for (const std::size_t token : table_.members[cell]) {
    const std::optional<std::size_t> donor = texts_.alignment.donor_of[token];
    (donor ? paired : gone).push_back(token);
    if (donor) donors.push_back(*donor);
  }
  std::vector<Patch> patches;
  if (!paired.empty()) {
    patches.push_back(rows_patch(row_name(row), std::move(paired), donor_[row], donors));
  }
  if (!gone.empty()) hide(gone, row, patches);
  return patches;
}

// Returns whether the cell's vectors are equal in both texts: replacing them changes nothing.
bool NextPatching::same_in_both(std::size_t row, std::size_t cell) const {
  return std::ranges::all_of(table_.members[cell], [&](std::size_t token) {
    const std::optional<std::size_t> donor = texts_.alignment.donor_of[token];
    return donor && std::ranges::equal(row_of(base_[row], token), row_of(donor_[row], *donor));
  });
}

bool NextPatching::step(std::size_t tokens) {
  const std::size_t row = table_.done / table_.cells;
  std::size_t runs = 0;
  while (table_.done < table_.values.size() && table_.done / table_.cells == row) {
    const std::size_t cell = table_.done % table_.cells;
    float& value = table_.values[table_.done];
    if (same_in_both(row, cell)) {
      value = table_.base;
    } else {
      if (runs > 0 && (runs + 1) * (texts_.base.size() + decoded_.size()) > tokens) break;
      value = number(texts_.base, joined(base_positions_, patches_of(row, cell)));
      ++runs;
    }
    ++table_.done;
  }
  return table_.done < table_.values.size();
}

}  // namespace glassformer
