#pragma once

#include <cstdint>
#include <vector>

#include "kernels/compute.hpp"
#include "run/session.hpp"
#include "run/trace/tensor_list.hpp"
#include "run/trace/trace.hpp"

namespace glassformer {

/// A request that has been checked against a model.
class TracePlan {
 public:
  TracePlan() = default;
  /// Throws `invalid_option` if a name or a pattern matches none of the model's tensors, if a patch
  /// selects a part that its tensor does not have, or if two patches replace the same tensor under
  /// two of its names. Throws `unsupported` for a patch of a tensor that attention in integers does
  /// not compute.
  template <class Model>
  TracePlan(const Model& model, Session& session, TraceRequest request)
      : TracePlan(request.asks_any() ? model.tensors(session) : std::vector<ModelTensor>(),
                  model.compute(), request) {}

  const TraceRequest& request() const { return request_; }

  /// Returns how many numbers the tensors that are requested by name have.
  std::uint64_t numbers(const TextLengths& lengths) const;

  /// Throws `invalid_option` unless the patches fit a text of this length and an answer of up to
  /// this length.
  void expect_fit(const TextLengths& lengths) const;

 private:
  TracePlan(const std::vector<ModelTensor>& tensors, Compute compute, const TraceRequest& request);

  TraceRequest request_;
  std::vector<ModelTensor> asked_, replaced_;  // replaced_: of each patch
};

}  // namespace glassformer
