#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace glassformer {

/// The reasons for which the library rejects its input. The strings of to_string are part of the
/// public interface: JavaScript and the command line report the same ones.
enum class ErrorCode {
  empty_input,
  too_large,   ///< a text or request that exceeds memory or a limit of the model
  non_finite,  ///< a number in the result is not finite
  invalid_option,
  invalid_config,
  invalid_data,  ///< examples that cannot be learned from
  invalid_safetensors,
  unsupported_dtype,
  missing_tensor,
  unexpected_tensor,
  shape_mismatch,
  invalid_weights,
  invalid_tokenizer,
  invalid_shortlist,
  invalid_manifest,
  invalid_picture,
  missing_file,
  wrong_task,
  unsupported,
  internal,
};

/// Returns the name of a code, such as "empty_input".
constexpr std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::empty_input:
      return "empty_input";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::non_finite:
      return "non_finite";
    case ErrorCode::invalid_option:
      return "invalid_option";
    case ErrorCode::invalid_config:
      return "invalid_config";
    case ErrorCode::invalid_data:
      return "invalid_data";
    case ErrorCode::invalid_safetensors:
      return "invalid_safetensors";
    case ErrorCode::unsupported_dtype:
      return "unsupported_dtype";
    case ErrorCode::missing_tensor:
      return "missing_tensor";
    case ErrorCode::unexpected_tensor:
      return "unexpected_tensor";
    case ErrorCode::shape_mismatch:
      return "shape_mismatch";
    case ErrorCode::invalid_weights:
      return "invalid_weights";
    case ErrorCode::invalid_tokenizer:
      return "invalid_tokenizer";
    case ErrorCode::invalid_shortlist:
      return "invalid_shortlist";
    case ErrorCode::invalid_manifest:
      return "invalid_manifest";
    case ErrorCode::invalid_picture:
      return "invalid_picture";
    case ErrorCode::missing_file:
      return "missing_file";
    case ErrorCode::wrong_task:
      return "wrong_task";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

/// The exception that the library throws. The message contains the field or tensor, the expected
/// and the actual value. It can be shown anywhere: control characters, which files may contain, are
/// escaped, and the middle of a very long message is omitted.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, const std::string& field = {});

  ErrorCode code() const noexcept { return code_; }
  /// The option that is wrong, as the users of the program write it; empty if it is none.
  const std::string& field() const noexcept { return field_; }

 private:
  ErrorCode code_;
  std::string field_;
};

}  // namespace glassformer
