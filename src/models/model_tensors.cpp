#include "models/model_tensors.hpp"

#include <string_view>

namespace glassformer {
namespace {

using Axis = ModelTensor::Axis;

class Tensors {
 public:
  // A tensor [rows, columns].
  void add(std::string name, Axis rows, std::size_t columns) {
    all_.push_back({.name = std::move(name), .rows = rows, .columns = columns, .place = ++places_});
  }

  // Another name of the last tensor.
  void rename(std::string name) {
    ModelTensor again = all_.back();
    again.name = std::move(name);
    all_.push_back(std::move(again));
  }

  void add_heads(std::string name, Axis rows, const StackConfig& stack) {
    add(std::move(name), rows, stack.d_head);
    all_.back().heads = stack.n_heads;
  }

  void add_map(std::string name, Axis queries, Axis keys, std::size_t heads) {
    add(std::move(name), queries, 0);
    all_.back().keys = keys;
    all_.back().heads = heads;
  }

  std::vector<ModelTensor> take() { return std::move(all_); }

 private:
  std::vector<ModelTensor> all_;
  std::size_t places_ = 0;
};

// What stands between a sublayer's norms.
void add_sum(Tensors& tensors, const std::string& name, Axis rows, const StackConfig& stack) {
  tensors.add(name + ".output", rows, stack.d_model);
  tensors.add(name + ".residual", rows, stack.d_model);
  if (stack.norm == NormPlacement::post) {
    tensors.add(name + "_layer_norm", rows, stack.d_model);
  }
}

// An attention and the norm around it.
void add_attention(Tensors& tensors, const std::string& name, Axis rows, Axis keys,
                   const StackConfig& stack) {
  if (stack.norm == NormPlacement::pre) {
    tensors.add(name + "_layer_norm", rows, stack.d_model);
  }
  tensors.add_heads(name + ".q", rows, stack);
  tensors.add_heads(name + ".k", keys, stack);
  tensors.add_heads(name + ".v", keys, stack);
  if (stack.attention != AttentionType::linear) {
    tensors.add_map(name + ".scores", rows, keys, stack.n_heads);
  }
  tensors.add_map(name + ".weights", rows, keys, stack.n_heads);
  tensors.add_heads(name + ".context", rows, stack);
  add_sum(tensors, name, rows, stack);
}

// The same of a recurrent unit.
void add_recurrent_unit(Tensors& tensors, const std::string& name, Axis rows,
                        const StackConfig& stack) {
  if (stack.norm == NormPlacement::pre) {
    tensors.add(name + "_layer_norm", rows, stack.d_model);
  }
  for (const char* part : {".candidate", ".gate", ".state"}) {
    tensors.add(name + part, rows, stack.d_model);
  }
  add_sum(tensors, name, rows, stack);
}

// `sources`: whether it attends to an encoder's output.
void add_stack(Tensors& tensors, const std::string& name, Axis rows, bool sources,
               const StackConfig& stack) {
  const std::size_t width = stack.d_model;
  tensors.add(name + ".embed_tokens", rows, width);
  if (stack.positions != PositionKind::relative) {
    tensors.add(name + ".embed_positions", rows, width);
  }
  if (stack.token_types > 0) tensors.add(name + ".embed_types", rows, width);
  tensors.add(name + ".embeddings", rows, width);
  for (std::size_t layer = 0; layer < stack.layers; ++layer) {
    const std::string block = name + ".layers." + std::to_string(layer) + ".";
    tensors.rename(block + "input");
    if (stack.attention == AttentionType::recurrent) {
      add_recurrent_unit(tensors, block + "self_attn", rows, stack);
    } else {
      add_attention(tensors, block + "self_attn", rows, rows, stack);
    }
    if (sources) {
      add_attention(tensors, block + "encoder_attn", rows, Axis::source, stack);
    }
    if (stack.norm == NormPlacement::pre) {
      tensors.add(block + "final_layer_norm", rows, width);
      tensors.add(block + "fc1", rows, stack.d_ff);
      tensors.add(block + "fc2", rows, width);
      tensors.add(block + "output", rows, width);
    } else {
      tensors.add(block + "fc1", rows, stack.d_ff);
      tensors.add(block + "fc2", rows, width);
      tensors.add(block + "final_layer_norm", rows, width);
      tensors.rename(block + "output");
    }
  }
  if (stack.final_norm) tensors.add(name + ".layer_norm", rows, width);
  tensors.rename(name + ".output");
}

std::size_t extent(Axis axis, const TextLengths& lengths) {
  return axis == Axis::source ? lengths.source : lengths.target;
}

}  // namespace

std::vector<std::size_t> ModelTensor::shape(const TextLengths& lengths) const {
  if (keys != Axis::none) return {heads, extent(rows, lengths), extent(keys, lengths)};
  std::vector<std::size_t> shape;
  if (rows != Axis::none) shape.push_back(extent(rows, lengths));
  if (heads > 0) shape.push_back(heads);
  shape.push_back(columns);
  return shape;
}

std::vector<ModelTensor> tensors_of(const Architecture& architecture) {
  Tensors tensors;
  const bool sources = architecture.encoder.has_value();
  if (sources) add_stack(tensors, "encoder", Axis::source, false, *architecture.encoder);
  if (architecture.decoder) {
    add_stack(tensors, "decoder", Axis::target, sources, *architecture.decoder);
  }
  const HeadConfig& head = architecture.head;
  switch (head.kind) {
    case HeadKind::sequence_classes: {
      const std::size_t width = architecture.encoder->d_model;
      tensors.add("pooled", Axis::none, width);
      if (head.dense) tensors.add("head.dense", Axis::none, width);
      tensors.add("logits", Axis::none, head.outputs);
      break;
    }
    case HeadKind::token_classes:
    case HeadKind::spans:
      tensors.add("logits", Axis::source, head.outputs);
      break;
    case HeadKind::next_token:
      tensors.add("logits", Axis::target, head.outputs);
      break;
    case HeadKind::vectors:
      break;
  }
  return tensors.take();
}

}  // namespace glassformer
