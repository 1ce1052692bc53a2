#pragma once

#include <cstdint>
#include <string_view>

namespace glassformer {

/// Reads one message of the protocol buffer wire format field by field, never past its end:
///   while (reader.next()) if (reader.field() == 3) use(reader.varint());
/// Skips the fields whose value is not read. Throws invalid_tokenizer.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  bool next();  // false at the end of the message

  std::uint32_t field() const { return field_; }

  /// Returns the current field's value. Throws if it is stored as another kind.
  std::uint64_t varint() const;
  std::int32_t int32() const;  // negative numbers are ten-byte varints
  bool boolean() const { return varint() != 0; }
  float float32() const;
  std::string_view bytes() const;  // of a string or a nested message; a view into this message

 private:
  enum class WireType : std::uint32_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  [[noreturn]] void fail(const char* problem) const;
  void expect(WireType type) const;
  std::uint64_t read_varint();
  std::string_view take(std::uint64_t size);

  std::string_view rest_;
  std::uint32_t field_ = 0;
  WireType type_ = WireType::varint;
  std::uint64_t varint_ = 0;
  std::string_view bytes_;
};

}  // namespace glassformer
