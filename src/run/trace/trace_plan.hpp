#pragma once

#include <cstdint>
#include <vector>

#include "kernels/compute.hpp"
#include "run/session.hpp"
#include "run/trace/tensor_list.hpp"
#include "run/trace/trace.hpp"

namespace glassformer {

/// A request that a model can meet.
class TracePlan {
 public:
  TracePlan() = default;
  /// Throws `invalid_option` where a name, or a pattern, is none of the model's tensors, where a
  /// patch chooses what its tensor does not have, or where two replace one tensor by two of its
  /// names; `unsupported` for a patch of what attention in integers has no place for.
  template <class Model>
  TracePlan(const Model& model, Session& session, TraceRequest request)
      : TracePlan(request.names_any() ? model.tensors(session) : std::vector<ModelTensor>(),
                  model.compute(), request) {}

  const TraceRequest& request() const { return request_; }

  /// How many numbers the tensors that are asked for by name have.
  std::uint64_t numbers(const TextLengths& lengths) const;

  /// Throws `invalid_option` unless the patches fit a text of this length, and an answer that may
  /// get as long as this.
  void expect_fit(const TextLengths& lengths) const;

 private:
  TracePlan(const std::vector<ModelTensor>& tensors, Compute compute, const TraceRequest& request);

  TraceRequest request_;
  std::vector<ModelTensor> asked_, replaced_;  // replaced_: of each patch
};

}  // namespace glassformer
