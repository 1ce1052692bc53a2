#pragma once

#include "api/tokens.hpp"
