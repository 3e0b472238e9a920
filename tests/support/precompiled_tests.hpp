// Headers that most tests include, parsed once a build.
#pragma once

#include "cmake/precompiled.hpp"

#include <rapidcheck.h>

#include "tests/support/catch.hpp"
