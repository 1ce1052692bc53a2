#pragma once

#include "run/trace/patch.hpp"
