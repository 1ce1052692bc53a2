#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "checkpoints/family.hpp"
#include "linked.hpp"

namespace glassformer {

// The registry: a new family is a file beside this one, and a name here.
extern const Family bert, distilbert, roberta, gpt2, marian, t5, bergamot;

namespace {

constexpr std::array readers = {&bert, &distilbert, &roberta};
constexpr std::array writers = {&gpt2, &marian, &t5};
constexpr std::array containers = {&bergamot};  // they write

using Families = std::span<const Family* const>;

}  // namespace

const Family& find_family(std::string_view model_type) {
  std::string known;
  for (const Families families : {links_readers() ? Families(readers) : Families(),
                                  links_writers() ? Families(writers) : Families()}) {
    for (const Family* family : families) {
      if (std::ranges::find(family->model_types, model_type) != family->model_types.end()) {
        return *family;
      }
      for (const std::string_view type : family->model_types) {
        known.append(known.empty() ? "\"" : ", \"").append(type).append("\"");
      }
    }
  }
  expect_linked(false);
  expect_linked(true);
  throw_error(ErrorCode::unsupported,
              {"config.json: model_type: expected one of {}, got {}; a model of another "
               "architecture cannot be read, whatever its file format",
               {known, describe(model_type)}});
}

const Family* find_container(ModelFiles& files, FolderFiles& found) {
  if (!links_writers()) return nullptr;
  for (const Family* family : containers) {
    if (auto theirs = family->container->find(files)) {
      found = std::move(*theirs);
      return family;
    }
  }
  return nullptr;
}

}  // namespace glassformer
