#include "run/trace/tensor_list.hpp"

#include <algorithm>
#include <string_view>

namespace glassformer {
namespace {

std::size_t extent(ModelTensor::Axis axis, const TextLengths& lengths) {
  return axis == ModelTensor::Axis::source ? lengths.source : lengths.target;
}

}  // namespace

std::vector<std::size_t> ModelTensor::shape(const TextLengths& lengths) const {
  if (keys != Axis::none) return {heads, extent(rows, lengths), extent(keys, lengths)};
  std::vector<std::size_t> shape;
  if (has_rows()) shape.push_back(entries > 0 ? entries : extent(rows, lengths));
  if (heads > 0) shape.push_back(heads);
  shape.push_back(columns);
  return shape;
}

ModelTensor& TensorList::add(std::string_view name) {
  return tensors_.emplace_back(
      ModelTensor{.name = path_.name(name), .rows = rows_, .id = ++last_id_});
}

void TensorList::done(std::string_view name, const CompleteRows& rows) {
  ModelTensor& tensor = add(name);
  if (rows.of != RowsOf::tokens) tensor.rows = ModelTensor::Axis::none;
  if (rows.of == RowsOf::table) tensor.entries = rows.count;
  tensor.heads = rows.heads;
  tensor.columns = rows.heads > 0 ? rows.columns / rows.heads : rows.columns;
}

void TensorList::renamed(std::string_view name, const CompleteRows&) {
  ModelTensor again = tensors_.back();
  again.name = path_.name(name);
  tensors_.push_back(std::move(again));
}

MapOutput TensorList::map(MapKind kind, std::size_t, const MapShape& shape) {
  ModelTensor& tensor = add(kind == MapKind::scores ? "scores" : "weights");
  tensor.heads = shape.heads;
  tensor.keys = path_.text().ends_with("encoder_attn.") ? ModelTensor::Axis::source : rows_;
  return {};
}

}  // namespace glassformer
