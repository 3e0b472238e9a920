// Catch2 v2 only: its main function. Version 3 brings one (Catch2::Catch2WithMain).
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
