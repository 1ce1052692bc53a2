#include "text/sentencepiece/protobuf.hpp"

#include <cstring>
#include <string>

#include "base/error.hpp"

namespace glassformer {

bool ProtobufReader::next() {
  if (rest_.empty()) return false;
  const std::uint64_t key = read_varint();
  if (key > UINT32_MAX || key >> 3 == 0) fail("a field number out of range");
  field_ = static_cast<std::uint32_t>(key >> 3);
  type_ = static_cast<WireType>(key & 7);
  switch (type_) {
    case WireType::varint:
      varint_ = read_varint();
      return true;
    case WireType::fixed64:
      bytes_ = take(8);
      return true;
    case WireType::bytes:
      bytes_ = take(read_varint());
      return true;
    case WireType::fixed32:
      bytes_ = take(4);
      return true;
  }
  fail("an unknown wire type");
}

std::uint64_t ProtobufReader::varint() const {
  expect(WireType::varint);
  return varint_;
}

std::int32_t ProtobufReader::int32() const { return static_cast<std::int32_t>(varint()); }

float ProtobufReader::float32() const {
  expect(WireType::fixed32);
  float value;
  std::memcpy(&value, bytes_.data(), sizeof value);
  return value;
}

std::string_view ProtobufReader::bytes() const {
  expect(WireType::bytes);
  return bytes_;
}

void ProtobufReader::fail(const char* problem) const {
  throw_error(
      ErrorCode::invalid_tokenizer,
      {"tokenizer.model: field {}: expected a protocol buffer message, got {}", {field_, problem}});
}

void ProtobufReader::expect(WireType type) const {
  if (type_ != type) fail("a value of another wire type");
}

std::uint64_t ProtobufReader::read_varint() {
  if (!rest_.empty() && static_cast<signed char>(rest_[0]) >= 0) {  // most have one byte
    const auto value = static_cast<std::uint64_t>(rest_[0]);
    rest_.remove_prefix(1);
    return value;
  }
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1)[0]);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  fail("a number of more than ten bytes");
}

std::string_view ProtobufReader::take(std::uint64_t size) {
  if (size > rest_.size()) fail("a value that runs past the end");
  const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(size));
  rest_.remove_prefix(taken.size());
  return taken;
}

}  // namespace glassformer
