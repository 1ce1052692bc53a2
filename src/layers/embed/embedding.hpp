#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "layers/linear/linear.hpp"
#include "tensor/tensor.hpp"
#include "weights/parameter.hpp"

namespace glassformer {

/// Maps token ids to vectors: rows of a learned table [V, D] times a fixed scale, √D in "Attention
/// Is All You Need", section 3.4.
class Embedding {
 public:
  Embedding(std::size_t rows, std::size_t d_model, float scale)
      : rows_(rows), d_model_(d_model), scale_(scale) {}
  Embedding(const Embedding&) = delete;
  Embedding& operator=(const Embedding&) = delete;
  virtual ~Embedding() = default;

  virtual void declare(const ParameterScope& scope) = 0;

  /// x [N, D] = scale · table[ids]. Throws `internal` for an id without a row. The caller must
  /// check a model's input (tasks/reading/token_checks.hpp).
  /// `ids` must outlive the run's tape.
  void operator()(std::span<const std::int32_t> ids, View x, const Run& run) const;

  /// row [D] = table[id]. Requires id < rows().
  virtual void copy_row(std::size_t id, std::span<float> row) const = 0;

  /// Returns the table [V, D]. Null for 8-bit integers.
  virtual const Parameter* table() const { return nullptr; }
  float scale() const { return scale_; }

  std::size_t rows() const { return rows_; }  ///< V
  std::size_t d_model() const { return d_model_; }

 private:
  std::size_t rows_, d_model_;
  float scale_;
};

/// A table of its own. Declares `weight` [V, D].
class TableEmbedding final : public Embedding {
 public:
  TableEmbedding(std::size_t vocab_size, std::size_t d_model, float scale)
      : Embedding(vocab_size, d_model, scale) {}
  void declare(const ParameterScope& scope) override;

  void copy_row(std::size_t id, std::span<float> row) const override;
  const Parameter* table() const override { return &table_; }

 private:
  Parameter table_;  // [V, D]
};

/// A table of 8-bit integers with one scale per row.
class Int8TableEmbedding final : public Embedding {
 public:
  Int8TableEmbedding(std::size_t vocab_size, std::size_t d_model, float scale)
      : Embedding(vocab_size, d_model, scale) {}
  void declare(const ParameterScope& scope) override;

  void copy_row(std::size_t id, std::span<float> row) const override;

 private:
  std::vector<std::int8_t> table_;  // [V, D], empty until it is set
  std::vector<float> scales_;       // [V]
};

/// Uses the weight [V, D] of the linear layer that computes logits. That layer stores and declares
/// it (Press and Wolf 2017) and must outlive this.
class TiedEmbedding final : public Embedding {
 public:
  TiedEmbedding(const Linear& lm_head, float scale)
      : Embedding(lm_head.out(), lm_head.in(), scale), lm_head_(lm_head) {}
  void declare(const ParameterScope&) override {}

  void copy_row(std::size_t id, std::span<float> row) const override {
    lm_head_.copy_output(id, row);
  }
  const Parameter* table() const override { return &lm_head_.weight_parameter(); }

 private:
  const Linear& lm_head_;
};

/// Uses the table of another embedding, which declares it and must outlive this.
class SharedEmbedding final : public Embedding {
 public:
  SharedEmbedding(const Embedding& table, float scale)
      : Embedding(table.rows(), table.d_model(), scale), table_(table) {}
  void declare(const ParameterScope&) override {}

  void copy_row(std::size_t id, std::span<float> row) const override { table_.copy_row(id, row); }
  const Parameter* table() const override { return table_.table(); }

 private:
  const Embedding& table_;
};

/// table row of each id [N] += scale · the gradient of its row of x [N, D].
void embedding_backward(const Parameter& table, std::span<const std::int32_t> ids, float scale,
                        const ConstView& x, Tape& tape);

/// Adds a vector for the text that each token belongs to, a row of a learned table [types, D]:
/// Devlin et al. 2019, figure 2, "segment embeddings".
class TypeEmbedding {
 public:
  TypeEmbedding(std::size_t types, std::size_t d_model) : types_(types), d_model_(d_model) {}
  TypeEmbedding(const TypeEmbedding&) = delete;
  TypeEmbedding& operator=(const TypeEmbedding&) = delete;

  /// Declares `weight` [types, D].
  void declare(const ParameterScope& scope);

  /// x [N, D] += table[types]. Throws `internal` for a type without a row. `types` must outlive the
  /// run's tape.
  void add_to(View x, std::span<const std::int32_t> types, const Run& run) const;

 private:
  std::size_t types_, d_model_;
  Parameter table_;  // [types, D]
};

}  // namespace glassformer
