#pragma once

#include <map>
#include <string>

#include "penstock/io/bundle.h"

namespace penstock::io {

// Names of variables in a checkpoint of objects, as TensorFlow 2 writes it, and the keys that their
// values have: "dense/kernel" -> "model/layer-0/kernel/.ATTRIBUTES/VARIABLE_VALUE". Empty for a
// checkpoint by names.
Result<std::map<std::string, std::string>> ObjectNames(const BundleReader& reader);

}  // namespace penstock::io
