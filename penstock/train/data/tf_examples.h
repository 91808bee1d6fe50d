#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "penstock/train/data/bad_record.h"
#include "penstock/train/data/dataset.h"

// TFRecord files, and the tf.Examples in them.

namespace penstock {

enum class RecordCompression { kNone, kGzip, kZlib };

struct RecordOptions {
  RecordCompression compression = RecordCompression::kNone;
  OnBadRecord on_bad = OnBadRecord::kFail;
  int threads = 0;  // that parse batches; 0: the budget of the process
};

// A feature that is read from each Example: a FloatList as float, an Int64List as int64_t or
// int32_t, a BytesList as std::string, and one value of bytes, such as an image, as uint8_t.
template <class T>
struct Feature {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, int64_t> ||
                    std::is_same_v<T, int32_t> || std::is_same_v<T, std::string> ||
                    std::is_same_v<T, uint8_t>,
                "a feature is float, int64_t, int32_t, std::string or uint8_t");
  std::string name = {};
  Shape shape = {};               // of as many values as there must be; a first extent of -1: any
  std::vector<T> otherwise = {};  // the values where an Example has none; empty: it must have them
  int64_t limit = 0;              // integers must lie in [0, limit); 0: need not
};

namespace data {

struct FeatureSpec {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;
  Tensor otherwise;  // without elements: required
  int64_t limit = 0;
};

StagePtr RecordsStage(std::vector<std::string> files, RecordOptions options);
StagePtr ExamplesStage(std::vector<std::string> files, RecordOptions options,
                       std::vector<FeatureSpec> features);

template <class T>
FeatureSpec SpecOf(const Feature<T>& feature) {
  return {feature.name, kDTypeOf<T>, feature.shape, Array<T>(feature.otherwise).tensor(),
          feature.limit};
}

}  // namespace data

// The records of the files, one after the other.
inline Dataset<Array<std::string>> TfRecords(std::vector<std::string> files,
                                             RecordOptions options = {}) {
  return Dataset<Array<std::string>>(data::RecordsStage(std::move(files), options));
}

// The features of the Examples in the files. Batches are parsed into their memory by several
// threads.
//
//   TfExamples({"train.tfrecord"}, {}, Feature<uint8_t>{.name = "image", .shape = {28, 28}},
//              Feature<int32_t>{.name = "label", .limit = 10})
template <class... Ts>
DatasetOf<Ts...> TfExamples(std::vector<std::string> files, RecordOptions options,
                            const Feature<Ts>&... features) {
  return DatasetOf<Ts...>(
      data::ExamplesStage(std::move(files), options, {data::SpecOf(features)...}));
}

}  // namespace penstock
