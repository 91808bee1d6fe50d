#include "penstock/ops/collections/table_state.h"

#include <vector>

#include "penstock/ops/collections/pieces.h"

namespace penstock::ops {
namespace {

bool IsVectorOrScalar(const Shape& shape) { return shape.rank() <= 1; }

bool SameTensor(const Tensor& a, const Tensor& b) {
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    if (!SameElement(a, i, b, i)) return false;
  }
  return true;
}

// Key i of `keys` is `key`.
bool IsKey(const Tensor& keys, int64_t i, const Tensor& key) {
  const int64_t n = key.num_elements();
  for (int64_t k = 0; k < n; ++k) {
    if (!SameElement(keys, i * n + k, key, k)) return false;
  }
  return true;
}

Status CheckReservedKeys(const TableSpec& spec) {
  if (!IsVectorOrScalar(spec.key_shape) || spec.key_shape.num_elements() == 0) {
    return InvalidArgument("Empty key must be a scalar or a vector, got shape {}", spec.key_shape);
  }
  if (!spec.deleted_key.initialized()) return OkStatus();
  if (!(spec.deleted_key.shape() == spec.key_shape)) {
    return InvalidArgument("Empty and deleted keys must have same shape, got shapes: {} and {}",
                           spec.key_shape, spec.deleted_key.shape());
  }
  if (SameTensor(spec.empty_key, spec.deleted_key)) {
    return InvalidArgument("Empty and deleted keys cannot be equal");
  }
  return OkStatus();
}

}  // namespace

std::string_view ToString(TableKind kind) {
  switch (kind) {
    case TableKind::kHash:
      return "HashTable";
    case TableKind::kMutable:
      return "MutableHashTable";
    case TableKind::kMutableOfTensors:
      return "MutableHashTableOfTensors";
    case TableKind::kMutableDense:
      return "MutableDenseHashTable";
  }
  return "table";
}

Status TableSpec::Check() const {
  if (key_dtype != DType::kInt32 && key_dtype != DType::kInt64 && key_dtype != DType::kString) {
    return Unimplemented("a table has keys of int32, int64 or string, got {}", key_dtype);
  }
  if (!value_shape.IsFullyKnown() || !value_shape.CheckedNumElements()) {
    return InvalidArgument("value_shape must be known in full, got {}", value_shape);
  }
  if (kind == TableKind::kMutableOfTensors && value_shape.rank() != 1) {
    return InvalidArgument("Default value must be a vector, got shape {}", value_shape);
  }
  if (kind != TableKind::kMutableDense) return OkStatus();
  if (!IsVectorOrScalar(value_shape)) {
    return InvalidArgument("Empty value must be a scalar or a vector, got shape {}", value_shape);
  }
  return CheckReservedKeys(*this);
}

LookupTable::LookupTable(TableSpec spec)
    : spec_(std::move(spec)), rows_(NoRows()), initialized_(spec_.kind != TableKind::kHash) {}

TableRows LookupTable::NoRows() const {
  return TableRows(spec_.key_dtype, spec_.key_shape, spec_.value_dtype, spec_.value_shape);
}

int64_t LookupTable::Size() const {
  ReaderLock lock(mu_);
  return rows_.size();
}

Status LookupTable::CheckMutable(std::string_view what) const {
  if (spec_.kind != TableKind::kHash) return OkStatus();
  return Unimplemented("{} not supported by InitializableLookupTable implementations", what);
}

Result<int64_t> LookupTable::CheckKeys(const Tensor& keys) const {
  if (keys.dtype() != spec_.key_dtype) {
    return InvalidArgument("Key must be type {} but got {}", spec_.key_dtype, keys.dtype());
  }
  const int rank = keys.shape().rank() - spec_.key_shape.rank();
  if (rank < 0 || !(keys.shape().Slice(rank, keys.shape().rank()) == spec_.key_shape)) {
    return InvalidArgument("Input key shape {} must end with the table's key shape {}",
                           keys.shape(), spec_.key_shape);
  }
  return keys.num_elements() / spec_.key_shape.num_elements();
}

Result<Shape> LookupTable::ShapeOfValues(const Tensor& keys) const {
  const Shape batch = keys.shape().Slice(0, keys.shape().rank() - spec_.key_shape.rank());
  std::vector<int64_t> dims(batch.dims().begin(), batch.dims().end());
  dims.insert(dims.end(), spec_.value_shape.dims().begin(), spec_.value_shape.dims().end());
  return Shape::Make(dims);
}

Result<int64_t> LookupTable::CheckEntries(const Tensor& keys, const Tensor& values) const {
  TRY_ASSIGN(const int64_t count, CheckKeys(keys));
  if (values.dtype() != spec_.value_dtype) {
    return InvalidArgument("Value must be type {} but got {}", spec_.value_dtype, values.dtype());
  }
  TRY_ASSIGN(const Shape expected, ShapeOfValues(keys));
  if (!(values.shape() == expected)) {
    return InvalidArgument("Expected shape {} for value, got {}", expected, values.shape());
  }
  TRY(CheckReserved(keys, count));
  return count;
}

Status LookupTable::CheckReserved(const Tensor& keys, int64_t count) const {
  if (spec_.kind != TableKind::kMutableDense) return OkStatus();
  for (int64_t i = 0; i < count; ++i) {
    if (IsKey(keys, i, spec_.empty_key)) {
      return InvalidArgument("Using the empty_key as a table key is not allowed");
    }
    if (spec_.deleted_key.initialized() && IsKey(keys, i, spec_.deleted_key)) {
      return InvalidArgument("Using the deleted_key as a table key is not allowed");
    }
  }
  return OkStatus();
}

Status LookupTable::InsertInto(KernelContext& context, TableRows& rows, const Tensor& keys,
                               const Tensor& values, int64_t count) const {
  TRY(rows.Reserve(context, count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t before = rows.size();
    const int64_t row = rows.FindOrAdd(keys, i);
    if (spec_.kind == TableKind::kHash && row < before) {
      if (rows.HasValue(row, values, i)) continue;
      return InvalidArgument("HashTable has different value for same key. {}",
                             rows.TextOfConflict(row, values, i));
    }
    rows.SetValue(row, values, i);
  }
  return OkStatus();
}

bool LookupTable::HasEntries(const Tensor& keys, const Tensor& values, int64_t count) const {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = rows_.Find(keys, i);
    if (row < 0 || !rows_.HasValue(row, values, i)) return false;
  }
  return true;
}

Status LookupTable::Initialize(KernelContext& context, const Tensor& keys, const Tensor& values) {
  if (spec_.kind != TableKind::kHash) {
    return InvalidArgument("a {} is not initializable", ToString(spec_.kind));
  }
  if (keys.shape().rank() != 1) {
    return InvalidArgument("Keys must be a vector, but received shape {}", keys.shape());
  }
  TRY_ASSIGN(const int64_t count, CheckEntries(keys, values));
  // Filled aside: a table is either as it was or whole.
  TableRows rows = NoRows();
  TRY(InsertInto(context, rows, keys, values, count));
  WriterLock lock(mu_);
  if (initialized_) {
    if (rows.size() == rows_.size() && HasEntries(keys, values, count)) return OkStatus();
    return FailedPrecondition("Table was already initialized with different data.");
  }
  rows_.Swap(rows);
  initialized_ = true;
  return OkStatus();
}

Result<Tensor> LookupTable::Find(KernelContext& context, const Tensor& keys,
                                 const Tensor& default_value) const {
  TRY_ASSIGN(const int64_t count, CheckKeys(keys));
  TRY(CheckReserved(keys, count));
  if (default_value.dtype() != spec_.value_dtype) {
    return InvalidArgument("Value must be type {} but got {}", spec_.value_dtype,
                           default_value.dtype());
  }
  TRY_ASSIGN(const Shape full, ShapeOfValues(keys));
  const bool one_for_all = default_value.shape() == spec_.value_shape;
  if (!one_for_all && !(default_value.shape() == full)) {
    return InvalidArgument("Expected shape {} or {} for default value, got {}", spec_.value_shape,
                           full, default_value.shape());
  }
  TRY_ASSIGN(Tensor values, context.Allocate(spec_.value_dtype, full));
  const int64_t n = spec_.value_shape.num_elements();
  ReaderLock lock(mu_);
  if (!initialized_) return FailedPrecondition("Table not initialized.");
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = rows_.Find(keys, i);
    if (row >= 0) {
      rows_.CopyValue(row, values, i);
    } else {
      CopyPiece(default_value, one_for_all ? 0 : i * n, values, i * n, n);
    }
  }
  return values;
}

Status LookupTable::Insert(KernelContext& context, const Tensor& keys, const Tensor& values) {
  TRY(CheckMutable("Insert"));
  TRY_ASSIGN(const int64_t count, CheckEntries(keys, values));
  WriterLock lock(mu_);
  return InsertInto(context, rows_, keys, values, count);
}

Status LookupTable::Remove(const Tensor& keys) {
  TRY(CheckMutable("Remove"));
  TRY_ASSIGN(const int64_t count, CheckKeys(keys));
  TRY(CheckReserved(keys, count));
  WriterLock lock(mu_);
  for (int64_t i = 0; i < count; ++i) rows_.Remove(keys, i);
  return OkStatus();
}

Status LookupTable::Import(KernelContext& context, const Tensor& keys, const Tensor& values) {
  if (spec_.kind == TableKind::kHash) return Initialize(context, keys, values);
  TRY_ASSIGN(const int64_t count, CheckEntries(keys, values));
  TableRows rows = NoRows();
  TRY(InsertInto(context, rows, keys, values, count));
  WriterLock lock(mu_);
  rows_.Swap(rows);
  return OkStatus();
}

Result<std::pair<Tensor, Tensor>> LookupTable::Export(KernelContext& context) const {
  ReaderLock lock(mu_);
  if (!initialized_) return Status(Code::kAborted, "HashTable is not initialized.");
  TRY_ASSIGN(Tensor keys, rows_.Keys(context));
  TRY_ASSIGN(Tensor values, rows_.Values(context));
  return std::pair(std::move(keys), std::move(values));
}

std::string LookupTable::DebugString() const {
  return Format("{} {} -> {} {} with {} entries", ToString(spec_.kind), spec_.key_dtype,
                spec_.value_dtype, spec_.value_shape, Size());
}

size_t LookupTable::MemoryBytes() const {
  ReaderLock lock(mu_);
  return rows_.MemoryBytes();
}

}  // namespace penstock::ops
