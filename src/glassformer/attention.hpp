#pragma once

#include "run/attention_map.hpp"
#include "run/trace/traced_tensor.hpp"
