#pragma once

#include "base/error_code.hpp"
