#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace glassformer {

/// How large a kind of file may be, and under which name and code a larger one is refused: a limit
/// on what reading it can cost, many times the size of any that is known. Whoever reads a file, or
/// downloads it, stops where its limit is passed.
struct FileLimit {
  std::string_view name;
  ErrorCode code;
  std::uint64_t max_bytes;
};

inline constexpr FileLimit config_limit{"config.json", ErrorCode::invalid_config, 1 << 20};
/// Of each file of a tokenizer.
inline constexpr FileLimit tokenizer_limit{"tokenizer.model", ErrorCode::invalid_tokenizer,
                                           32 << 20};
inline constexpr FileLimit shortlist_limit{"shortlist.bin", ErrorCode::invalid_shortlist, 64 << 20};
inline constexpr FileLimit manifest_limit{"manifest.json", ErrorCode::invalid_manifest, 1 << 20};
/// The format's own.
inline constexpr FileLimit header_limit{"model.safetensors: header", ErrorCode::invalid_safetensors,
                                        100'000'000};

/// That of a file of a model folder, by its name, which must outlive it. What has no limit of its
/// own belongs to a tokenizer or is a small part of the configuration.
inline FileLimit limit_of(std::string_view name) {
  for (const FileLimit& limit : {config_limit, shortlist_limit, manifest_limit}) {
    if (name == limit.name) return limit;
  }
  return {name, tokenizer_limit.code, tokenizer_limit.max_bytes};
}

/// Throws limit.code if a file has more bytes than it may.
inline void expect_within(const FileLimit& limit, std::uint64_t bytes) {
  if (bytes <= limit.max_bytes) return;
  throw_error(limit.code,
              {"{}: expected at most {} bytes, got {}", {limit.name, limit.max_bytes, bytes}});
}

}  // namespace glassformer
