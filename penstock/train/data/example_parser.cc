#include "penstock/train/data/example_parser.h"

#include <algorithm>
#include <cstring>

#include "penstock/core/checked.h"
#include "penstock/io/example.h"
#include "penstock/io/wire_reader.h"
#include "penstock/train/data/rows.h"

namespace penstock::data {
namespace {

using Kind = io::Feature::Kind;

bool HasFreeExtent(const FeatureSpec& spec) {
  return spec.shape.rank() > 0 && spec.shape.dim(0) == Shape::kUnknownDim;
}

Kind KindOf(DType dtype) {
  if (dtype == DType::kFloat) return Kind::kFloat;
  return dtype == DType::kInt64 || dtype == DType::kInt32 ? Kind::kInt64 : Kind::kBytes;
}

// The only value of a BytesList.
bool OnlyValue(const io::Feature& feature, std::string_view* value) {
  int count = 0;
  io::WireReader reader(feature.list);
  while (reader.Next()) {
    if (!reader.Is(1, io::WireReader::kBytes)) continue;
    *value = reader.bytes();
    ++count;
  }
  return reader.ok() && count == 1;
}

// How many values there are, of the type that the feature is read as.
Result<int64_t> Count(const FeatureSpec& spec, const io::Feature& feature) {
  if (feature.kind != KindOf(spec.dtype))
    return InvalidArgument("feature {} is no list of {}", Printable(spec.name), spec.dtype);
  int64_t count = 0;
  std::string_view value;
  if (spec.dtype == DType::kUint8) {
    if (!OnlyValue(feature, &value))
      return InvalidArgument("feature {} must be one value of bytes", Printable(spec.name));
    return static_cast<int64_t>(value.size());
  }
  if (!io::CountValues(feature, &count))
    return InvalidArgument("feature {} is malformed", Printable(spec.name));
  return count;
}

template <class T>
Status CheckLimit(const FeatureSpec& spec, const T* values, int64_t count) {
  if (spec.limit == 0) return OkStatus();
  for (int64_t i = 0; i < count; ++i)
    if (!InRange(static_cast<int64_t>(values[i]), spec.limit))
      return OutOfRange("feature {} must lie in [0, {}), got {}", Printable(spec.name), spec.limit,
                        values[i]);
  return OkStatus();
}

Status StoreInt32(const FeatureSpec& spec, const io::Feature& feature, int64_t count,
                  int32_t* out) {
  int64_t few[16];
  std::vector<int64_t> many;
  if (count > 16) many.resize(static_cast<size_t>(count));
  int64_t* values = count > 16 ? many.data() : few;
  io::CopyValues(feature, values);
  TRY(CheckLimit(spec, values, count));
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<int32_t>(values[i]);
    if (out[i] != values[i])
      return OutOfRange("feature {} does not fit into int32: {}", Printable(spec.name), values[i]);
  }
  return OkStatus();
}

// Writes the values from element `at` of `to` on. REQUIRES: Count gave `count`, and they fit.
Status Store(const FeatureSpec& spec, const io::Feature& feature, int64_t count, int64_t at,
             Tensor* to) {
  switch (spec.dtype) {
    case DType::kFloat:
      io::CopyValues(feature, to->mutable_data<float>() + at);
      return OkStatus();
    case DType::kInt64:
      io::CopyValues(feature, to->mutable_data<int64_t>() + at);
      return CheckLimit(spec, to->data<int64_t>() + at, count);
    case DType::kInt32:
      return StoreInt32(spec, feature, count, to->mutable_data<int32_t>() + at);
    case DType::kString:
      io::CopyValues(feature, to->mutable_data<std::string>() + at);
      return OkStatus();
    default: {
      std::string_view value;
      if (OnlyValue(feature, &value) && count > 0)
        std::memcpy(to->mutable_data<uint8_t>() + at, value.data(), value.size());
      return CheckLimit(spec, to->data<uint8_t>() + at, count);
    }
  }
}

// Where each feature lies in the Example; kNone for those that it has not.
Status Find(const std::vector<FeatureSpec>& features, std::string_view example,
            std::vector<io::Feature>* found) {
  bool well_formed = true;
  const bool parsed =
      io::ForEachFeature(example, [&](std::string_view name, std::string_view message) {
        for (size_t i = 0; i < features.size(); ++i) {
          if (features[i].name != name) continue;
          (*found)[i] = {};
          well_formed &= io::ParseFeature(message, &(*found)[i]);
        }
      });
  return parsed && well_formed ? OkStatus() : InvalidArgument("it is no tf.Example");
}

Status WrongCount(const FeatureSpec& spec, int64_t count) {
  return InvalidArgument("feature {} must have the shape {}, got {} values", Printable(spec.name),
                         spec.shape, count);
}

Status Missing(const FeatureSpec& spec) {
  return InvalidArgument("feature {} is missing", Printable(spec.name));
}

}  // namespace

ExampleParser::ExampleParser(std::vector<FeatureSpec> features) : features_(std::move(features)) {
  for (const FeatureSpec& spec : features_) {
    const bool free = HasFreeExtent(spec);
    fixed_ &= !free;
    sizes_.push_back((free ? spec.shape.Slice(1, spec.shape.rank()) : spec.shape).num_elements());
  }
}

Result<ExampleParser> ExampleParser::Make(std::vector<FeatureSpec> features) {
  if (features.empty()) return InvalidArgument("there must be a feature to read");
  for (const FeatureSpec& spec : features) {
    TRY(Shape::Make(spec.shape.dims()));
    const bool free = HasFreeExtent(spec);
    const Shape fixed = free ? spec.shape.Slice(1, spec.shape.rank()) : spec.shape;
    if (!spec.shape.has_rank() || !fixed.IsFullyKnown() || (free && fixed.num_elements() == 0))
      return InvalidArgument("feature {}: only the first extent may be -1, got {}",
                             Printable(spec.name), spec.shape);
    const int64_t given = spec.otherwise.num_elements();
    if (given != 0 && (free ? given % fixed.num_elements() : given - fixed.num_elements()) != 0)
      return InvalidArgument(
          "feature {}: {} values are given for where there are none, the shape is {}",
          Printable(spec.name), given, spec.shape);
  }
  return ExampleParser(std::move(features));
}

Result<Element> ExampleParser::NewRows(int64_t rows) const {
  Element element;
  for (const FeatureSpec& spec : features_) {
    TRY_ASSIGN(Tensor tensor, MakeRows(rows, spec.dtype, spec.shape));
    element.push_back(std::move(tensor));
  }
  return element;
}

Status ExampleParser::ParseTo(std::string_view example, int64_t row, Element* rows) const {
  std::vector<io::Feature> found(features_.size());
  TRY(Find(features_, example, &found));
  for (size_t i = 0; i < features_.size(); ++i) {
    const FeatureSpec& spec = features_[i];
    if (found[i].kind == Kind::kNone) {
      if (spec.otherwise.num_elements() != sizes_[i]) return Missing(spec);
      CopyToRow(spec.otherwise, row, &(*rows)[i]);
      continue;
    }
    TRY_ASSIGN(const int64_t count, Count(spec, found[i]));
    if (count != sizes_[i]) return WrongCount(spec, count);
    TRY(Store(spec, found[i], count, row * count, &(*rows)[i]));
  }
  return OkStatus();
}

Result<Element> ExampleParser::Parse(std::string_view example) const {
  std::vector<io::Feature> found(features_.size());
  TRY(Find(features_, example, &found));
  Element element;
  for (size_t i = 0; i < features_.size(); ++i) {
    const FeatureSpec& spec = features_[i];
    const bool free = HasFreeExtent(spec), missing = found[i].kind == Kind::kNone;
    int64_t count = spec.otherwise.num_elements();
    if (!missing) {
      TRY_ASSIGN(count, Count(spec, found[i]));
    }
    if (missing && !free && count != sizes_[i]) return Missing(spec);
    if (free ? count % sizes_[i] != 0 : count != sizes_[i]) return WrongCount(spec, count);
    Shape shape = spec.shape;
    if (free) shape.set_dim(0, count / sizes_[i]);
    TRY_ASSIGN(Tensor tensor, Tensor::Make(HostAllocator(), spec.dtype, shape));
    if (missing) {
      CopyToRow(spec.otherwise, 0, &tensor);
    } else {
      TRY(Store(spec, found[i], count, 0, &tensor));
    }
    element.push_back(std::move(tensor));
  }
  return element;
}

}  // namespace penstock::data
