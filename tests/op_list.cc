#include <cstdio>
#include <string>

#include "penstock/device/kernel.h"
#include "penstock/graph/registry.h"

// Prints what tools/ops_table.py needs to know of each op of the library, a line each: its name,
// "cpu" or "-" for its kernel, and "yes" or "none" for its gradient.

int main() {
  using namespace penstock;
  for (const std::string& name : StandardOps().Names()) {
    const OpInfo& info = *StandardOps().Find(name);
    std::printf("%s\t%s\t%s\n", name.c_str(), StandardKernels().Has(name, "CPU") ? "cpu" : "-",
                info.gradient != nullptr ? "yes" : "none");
  }
}
