#pragma once

#include "api/tasks/steer.hpp"
