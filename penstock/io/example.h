#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/function_ref.h"
#include "penstock/core/status.h"

// Training examples as TensorFlow writes them (tf.Example), read where they lie. All are protobuf
// messages; the number of a field stands before its type.
//
//   Example         = 1: Features
//   SequenceExample = 1: Features (context)  2: FeatureLists
//   Features        = (1: (1: name  2: Feature))*
//   FeatureLists    = (1: (1: name  2: FeatureList))*
//   FeatureList     = (1: Feature)*
//   Feature         = 1: BytesList | 2: FloatList | 3: Int64List
//   BytesList       = (1: bytes)*
//   FloatList       = (1: float)*    packed or not
//   Int64List       = (1: varint)*   packed or not
//
// Of fields that come twice the last counts. Nothing is copied: views last as long as the message.

namespace penstock::io {

struct Feature {
  enum class Kind { kNone, kBytes, kFloat, kInt64 };
  Kind kind = Kind::kNone;
  std::string_view list;  // the BytesList, FloatList or Int64List
};

// Called with the name and the message of each.
using NamedMessage = FunctionRef<void(std::string_view name, std::string_view message)>;

// The features of an Example; false when the bytes are none.
bool ForEachFeature(std::string_view example, NamedMessage each);
// The context and the feature lists of a SequenceExample.
bool ForEachSequenceFeature(std::string_view example, NamedMessage context, NamedMessage lists);
// The features of a FeatureList, one a step.
bool ParseFeatureList(std::string_view message, std::vector<Feature>* steps);
bool ParseFeature(std::string_view message, Feature* feature);

// How many values a feature has; false when its list is malformed. What it says holds for
// the functions below.
bool CountValues(const Feature& feature, int64_t* count);
// Writes the values one after the other. REQUIRES: the kind, room for CountValues.
void CopyValues(const Feature& feature, float* out);
void CopyValues(const Feature& feature, int64_t* out);
void CopyValues(const Feature& feature, std::string* out);

}  // namespace penstock::io
