#pragma once

#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/label_score.hpp"
#include "api/output.hpp"
#include "api/tokens.hpp"
#include "base/json/json_writer.hpp"
#include "base/result_field.hpp"
#include "run/attention_map.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// Writes a typed result as JSON. A result names its fields once, in a function
/// `fields(visit, result)` that calls `visit(name, value)` for each of them. The subclass decides
/// where tensors go.
class ResultWriter : public JsonWriter {
 public:
  virtual ~ResultWriter() = default;

  /// Writes a field. The value may be anything that JSON has, a range of such values, or a struct
  /// with `fields`. An optional value that is absent is left out.
  template <class Value>
  void operator()(std::string_view name, const Value& content, const ResultField& about = {}) {
    if constexpr (requires { content.has_value(); }) {
      if (content) (*this)(name, *content, about);
    } else {
      if constexpr (requires { content.empty(); }) {
        if (about.omitted && content.empty()) return;
      }
      key(name);
      put(content);
    }
  }
  /// Writes an array field; `visit_element(element)` visits the fields of one element. Tensors of
  /// an element are named "<name>.<index>.<tensor>".
  template <class Elements, class VisitElement>
  void each(std::string_view name, Elements& elements, const VisitElement& visit_element,
            const ResultField& = {}) {
    const std::string outer = path_;
    std::size_t index = 0;
    key(name);
    array(elements, [&](auto& element) {
      path_ = outer + std::string(name) + "." + std::to_string(index++) + ".";
      object([&] { visit_element(element); });
    });
    path_ = outer;
  }
  /// Writes the field "scores": of each label, in the order of `order`, or else of the labels.
  void scores(std::span<const std::string> labels, std::span<const float> scores,
              std::span<const float> logits, std::span<const std::size_t> order = {},
              const ResultField& = {});

  /// Visits maps of attention weights [layers, heads, queries, keys]; absent ones are skipped.
  struct Maps {
    std::optional<AttentionMap>* encoder = nullptr;
    std::optional<AttentionMap>* decoder = nullptr;
    std::optional<AttentionMap>* cross = nullptr;
  };
  virtual void attention(const Maps& maps) = 0;
  /// Visits tensors by name, or their gradients: the field "trace" or "gradients".
  void trace(std::vector<TracedTensor>&& tensors) { tensors_of("trace", std::move(tensors)); }
  void gradients(std::vector<TracedTensor>&& tensors) {
    tensors_of("gradients", std::move(tensors));
  }
  virtual void tensors_of(std::string_view field, std::vector<TracedTensor>&& tensors) = 0;
  void tensor(TracedTensor tensor, const ResultField& = {}) { write_tensor(std::move(tensor)); }
  /// Writes a vector that may be long.
  void vector(std::string_view name, std::vector<float> numbers, const ResultField& = {}) {
    write_vector(name, std::move(numbers));
  }
  /// Writes a table [rows, columns]. An empty one is left out.
  void table(std::string_view name, std::size_t columns, std::vector<float> values,
             const ResultField& = {}) {
    if (!values.empty()) write_table(name, columns, std::move(values));
  }

 protected:
  const std::string& path() const { return path_; }

 private:
  virtual void write_tensor(TracedTensor tensor) = 0;
  virtual void write_vector(std::string_view name, std::vector<float> numbers) = 0;
  virtual void write_table(std::string_view name, std::size_t columns,
                           std::vector<float> values) = 0;

  template <class Value>
  void put(const Value& content) {
    if constexpr (requires { value(content); }) {
      value(content);
    } else if constexpr (requires { content.has_value(); }) {
      content ? put(*content) : raw("null");
    } else if constexpr (std::ranges::range<Value>) {
      array(content, [&](const auto& element) { put(element); });
    } else {
      object([&] { fields(*this, content); });
    }
  }

  std::string path_;
};

/// Writes results with their tensors next to the JSON text, by name:
///
///   attention.encoder, attention.decoder, attention.cross   [layers, heads, queries, keys]
///   contributions                                           [tokens, classes]
///   trace.encoder.layers.0.input                            and other requested tensors
///   gradients.encoder.layers.0.input                        and other requested gradients
///   sentences.0.attention.cross                             of an element of an array
class TensorsBeside final : public ResultWriter {
 public:
  void attention(const Maps& maps) override;
  void tensors_of(std::string_view field, std::vector<TracedTensor>&& tensors) override;

  std::vector<TracedTensor> take_tensors() { return std::move(tensors_); }

 private:
  void write_tensor(TracedTensor tensor) override;
  void write_vector(std::string_view name, std::vector<float> numbers) override;
  void write_table(std::string_view name, std::size_t columns, std::vector<float> values) override;

  std::vector<TracedTensor> tensors_;
};

}  // namespace glassformer
