#pragma once

#include "api/encoder_options.hpp"
#include "glassformer/attention.hpp"
#include "glassformer/patch.hpp"
