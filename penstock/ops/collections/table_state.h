#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "penstock/core/resource.h"
#include "penstock/core/shared_mutex.h"
#include "penstock/ops/collections/table_rows.h"

namespace penstock::ops {

enum class TableKind {
  kHash,              // filled once, then read only
  kMutable,           // one number or string for a key
  kMutableOfTensors,  // a vector for a key
  kMutableDense,      // two keys are set aside
};
// TensorFlow's name of the kind: "HashTable".
std::string_view ToString(TableKind kind);

struct TableSpec {
  TableKind kind = TableKind::kHash;
  DType key_dtype = DType::kInvalid;
  DType value_dtype = DType::kInvalid;
  Shape key_shape;
  Shape value_shape;
  // Of a dense table: keys that nobody may use. The second may be missing.
  Tensor empty_key;
  Tensor deleted_key;

  // Whether there can be such a table.
  Status Check() const;
};

// A table from keys to values that steps share.
// Threads: all methods may be called concurrently; readers do not wait for one another.
class LookupTable final : public Resource {
 public:
  static constexpr char kKind[] = "lookup table";

  // REQUIRES: spec.Check() is OK.
  explicit LookupTable(TableSpec spec);

  const TableSpec& spec() const { return spec_; }
  int64_t Size() const;
  // Fills a table of kind kHash. FailedPrecondition when it has other entries already.
  Status Initialize(KernelContext& context, const Tensor& keys, const Tensor& values);
  // The values of `keys`; where there is none, `default_value` or, when that has a row for each
  // key, its row. FailedPrecondition when the table must be initialized first.
  Result<Tensor> Find(KernelContext& context, const Tensor& keys,
                      const Tensor& default_value) const;
  // The others need a mutable table: Unimplemented elsewhere.
  Status Insert(KernelContext& context, const Tensor& keys, const Tensor& values);
  Status Remove(const Tensor& keys);
  // Replaces all entries.
  Status Import(KernelContext& context, const Tensor& keys, const Tensor& values);
  // Keys and values, in the same order.
  Result<std::pair<Tensor, Tensor>> Export(KernelContext& context) const;

  std::string DebugString() const override;
  size_t MemoryBytes() const override;

 private:
  TableRows NoRows() const;
  Status CheckMutable(std::string_view what) const;
  // How many keys there are in a tensor of them.
  Result<int64_t> CheckKeys(const Tensor& keys) const;
  // A value for each key. REQUIRES: CheckKeys accepted them.
  Result<Shape> ShapeOfValues(const Tensor& keys) const;
  // CheckKeys, and the values must be as many.
  Result<int64_t> CheckEntries(const Tensor& keys, const Tensor& values) const;
  // Dense tables set two keys aside.
  Status CheckReserved(const Tensor& keys, int64_t count) const;
  Status InsertInto(KernelContext& context, TableRows& rows, const Tensor& keys,
                    const Tensor& values, int64_t count) const;
  bool HasEntries(const Tensor& keys, const Tensor& values, int64_t count) const
      PENSTOCK_THREAD_ATTRIBUTE(requires_shared_capability(mu_));

  const TableSpec spec_;
  mutable SharedMutex mu_;
  TableRows rows_ GUARDED_BY(mu_);
  bool initialized_ GUARDED_BY(mu_);
};

}  // namespace penstock::ops
