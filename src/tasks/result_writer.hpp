#pragma once

#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/output.hpp"
#include "api/tokens.hpp"
#include "base/json/json_writer.hpp"
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
  void operator()(std::string_view name, const Value& content) {
    if constexpr (requires { content.has_value(); }) {
      if (content) (*this)(name, *content);
    } else {
      key(name);
      put(content);
    }
  }
  /// Writes an array field; `visit_element(element)` visits the fields of one element. Tensors of
  /// an element are named "<name>.<index>.<tensor>".
  template <class Elements, class VisitElement>
  void each(std::string_view name, Elements& elements, const VisitElement& visit_element) {
    const std::string outer = path_;
    std::size_t index = 0;
    key(name);
    array(elements, [&](auto& element) {
      path_ = outer + std::string(name) + "." + std::to_string(index++) + ".";
      object([&] { visit_element(element); });
    });
    path_ = outer;
  }
  /// Writes the field "scores": an object per label with its number, name, score and logit, in the
  /// order of `order`, or else of the labels. Two labels may have one name.
  void scores(std::span<const std::string> labels, std::span<const float> scores,
              std::span<const float> logits, std::span<const std::size_t> order = {});

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
  virtual void tensor(TracedTensor tensor) = 0;
  /// Visits a vector that may be long.
  virtual void vector(std::string_view name, std::vector<float> numbers) = 0;
  /// Visits a table [rows, columns].
  virtual void table(std::string_view name, std::size_t columns, std::vector<float> values) = 0;

 protected:
  const std::string& path() const { return path_; }

 private:
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
  void tensor(TracedTensor tensor) override;
  void vector(std::string_view name, std::vector<float> numbers) override;
  void table(std::string_view name, std::size_t columns, std::vector<float> values) override;

  std::vector<TracedTensor> take_tensors() { return std::move(tensors_); }

 private:
  std::vector<TracedTensor> tensors_;
};

template <class Visit>
void fields(Visit& visit, const InputToken& token) {
  visit("id", token.id);
  visit("text", token.text);
  visit("start", token.start);
  visit("end", token.end);
  visit("sequence", token.sequence);
}

template <class Visit>
void fields(Visit& visit, const OutputToken& token) {
  visit("id", token.id);
  visit("text", token.text);
  visit("start", token.start);
  visit("end", token.end);
  visit("logprob", token.logprob);
}

template <class Visit>
void fields(Visit& visit, const OutputText& output) {
  visit("text", output.text);
  visit("score", output.score);
  visit("tokens", output.tokens);
}

}  // namespace glassformer
