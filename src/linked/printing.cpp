#include "linked.hpp"

bool glassformer::links_printing() { return true; }
