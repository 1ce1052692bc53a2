#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "families/family.hpp"
#include "weights/loader.hpp"

namespace glassformer {

/// Returns a model's parameters by their names in a family's files. `names` are the tensors in the
/// files. If a tensor has several possible names, uses the one in the files, or else the usual one,
/// so that the loader can report what is missing. `integers` are tensors whose rows are outputs,
/// regardless of the family's layout for floats.
std::vector<NamedParameter> in_family_names(std::vector<NamedParameter> parameters,
                                            const Family& family,
                                            const std::set<std::string>& names,
                                            const std::set<std::string>& integers = {});

}  // namespace glassformer
