#pragma once

#include "api/load_options.hpp"
#include "kernels/compute.hpp"
