#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "families/family.hpp"
#include "weights/loader.hpp"

namespace glassformer {

/// A model's parameters by the names that they have in a family's files; `names`: those that are
/// there. Where a tensor has had several names, the one in the file is meant; where none is there,
/// the usual one, so that its loader can say what is missing. `integers`: those whose rows are
/// outputs, whatever the family's layout is for floats.
std::vector<NamedParameter> in_family_names(std::vector<NamedParameter> parameters,
                                            const Family& family,
                                            const std::set<std::string>& names,
                                            const std::set<std::string>& integers = {});

}  // namespace glassformer
