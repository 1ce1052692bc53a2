#pragma once

#include "api/output.hpp"
#include "families/config/early_stopping.hpp"
#include "glassformer/tokens.hpp"
