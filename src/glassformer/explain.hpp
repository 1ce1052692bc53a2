#pragma once

#include "api/tasks/explain.hpp"
#include "explain/circuits/circuit.hpp"
#include "explain/results.hpp"
#include "glassformer/attention.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/error.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"
