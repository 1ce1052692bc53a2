#pragma once

#include "api/text_input.hpp"
