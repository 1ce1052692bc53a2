#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace glassformer {

/// The maximum size of a kind of file, and the name and error code for larger ones. It limits the
/// cost of reading and is many times the size of any known file. Reading and downloading stop at
/// the limit.
struct FileLimit {
  std::string_view name;
  ErrorCode code;
  std::uint64_t max_bytes;
};

inline constexpr FileLimit config_limit{"config.json", ErrorCode::invalid_config, 1 << 20};
/// The limit of each tokenizer file.
inline constexpr FileLimit tokenizer_limit{"tokenizer.model", ErrorCode::invalid_tokenizer,
                                           32 << 20};
inline constexpr FileLimit shortlist_limit{"shortlist.bin", ErrorCode::invalid_shortlist, 64 << 20};
inline constexpr FileLimit manifest_limit{"manifest.json", ErrorCode::invalid_manifest, 1 << 20};
inline constexpr FileLimit picture_steps_limit{"preprocessor_config.json",
                                               ErrorCode::invalid_config, 1 << 20};
/// The limit of the format itself.
inline constexpr FileLimit header_limit{"model.safetensors: header", ErrorCode::invalid_safetensors,
                                        100'000'000};

/// Returns the limit of a file in a model folder by the file's name, which must outlive the result.
/// Files without their own limit belong to a tokenizer or are small parts of the configuration;
/// they get the limit of tokenizer files.
inline FileLimit limit_of(std::string_view name) {
  for (const FileLimit& limit :
       {config_limit, shortlist_limit, manifest_limit, picture_steps_limit}) {
    if (name == limit.name) return limit;
  }
  return {name, tokenizer_limit.code, tokenizer_limit.max_bytes};
}

/// Throws limit.code if a file is larger than its limit.
inline void expect_within(const FileLimit& limit, std::uint64_t bytes) {
  if (bytes <= limit.max_bytes) return;
  throw_error(limit.code,
              {"{}: expected at most {} bytes, got {}", {limit.name, limit.max_bytes, bytes}});
}

}  // namespace glassformer
