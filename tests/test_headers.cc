// Carries the precompiled header of the tests: see penstock_gtest in cmake/PenstockRoom.cmake.
int main() {}
