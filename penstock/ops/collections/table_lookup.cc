#include "penstock/ops/collections/table_lookup.h"

#include "penstock/ops/collections/handles.h"
#include "penstock/ops/collections/table_state.h"

namespace penstock::ops {
namespace {

Result<std::shared_ptr<LookupTable>> FindTable(CpuContext& context, const Tensor& handle) {
  return FindResource<LookupTable>(context, handle, LookupTable::kKind);
}

Status Initialize(CpuContext& context, const Tensor& handle, const Tensor& keys,
                  const Tensor& values) {
  TRY_ASSIGN(const std::shared_ptr<LookupTable> table, FindTable(context, handle));
  return table->Initialize(context, keys, values);
}

Status Find(CpuContext& context, const Tensor& handle, const Tensor& keys,
            const Tensor& default_value) {
  TRY_ASSIGN(const std::shared_ptr<LookupTable> table, FindTable(context, handle));
  TRY_ASSIGN(Tensor values, table->Find(context, keys, default_value));
  context.SetOutput(0, std::move(values));
  return OkStatus();
}

Status Insert(CpuContext& context, const Tensor& handle, const Tensor& keys, const Tensor& values) {
  TRY_ASSIGN(const std::shared_ptr<LookupTable> table, FindTable(context, handle));
  return table->Insert(context, keys, values);
}

Status Size(CpuContext& context, const Tensor& handle, std::span<int64_t> size) {
  TRY_ASSIGN(const std::shared_ptr<LookupTable> table, FindTable(context, handle));
  size[0] = table->Size();
  return OkStatus();
}

Status Export(CpuContext& context, const Tensor& handle, DType keys, DType values) {
  TRY_ASSIGN(const std::shared_ptr<LookupTable> table, FindTable(context, handle));
  const TableSpec& spec = table->spec();
  if (spec.key_dtype != keys || spec.value_dtype != values) {
    return InvalidArgument("expected a table {}->{}, got {}->{}", keys, values, spec.key_dtype,
                           spec.value_dtype);
  }
  TRY_ASSIGN(auto entries, table->Export(context));
  context.SetOutput(0, std::move(entries.first));
  context.SetOutput(1, std::move(entries.second));
  return OkStatus();
}

Status Import(CpuContext& context, const Tensor& handle, const Tensor& keys, const Tensor& values) {
  TRY_ASSIGN(const std::shared_ptr<LookupTable> table, FindTable(context, handle));
  return table->Import(context, keys, values);
}

}  // namespace

Status InitializeTable::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                   const Tensor& keys, const Tensor& values) const {
  return Initialize(context, table_handle, keys, values);
}

Status InitializeTableV2::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                     const Tensor& keys, const Tensor& values) const {
  return Initialize(context, table_handle, keys, values);
}

Status LookupTableFind::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                   const Tensor& keys, const Tensor& default_value) const {
  return Find(context, table_handle, keys, default_value);
}

Status LookupTableFindV2::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                     const Tensor& keys, const Tensor& default_value) const {
  return Find(context, table_handle, keys, default_value);
}

Status LookupTableInsert::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                     const Tensor& keys, const Tensor& values) const {
  return Insert(context, table_handle, keys, values);
}

Status LookupTableInsertV2::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                       const Tensor& keys, const Tensor& values) const {
  return Insert(context, table_handle, keys, values);
}

Status LookupTableRemoveV2::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                       const Tensor& keys) const {
  TRY_ASSIGN(const std::shared_ptr<LookupTable> table, FindTable(context, table_handle));
  return table->Remove(keys);
}

Status LookupTableSize::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                   std::span<int64_t> size) const {
  return Size(context, table_handle, size);
}

Status LookupTableSizeV2::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                     std::span<int64_t> size) const {
  return Size(context, table_handle, size);
}

Status LookupTableExport::ComputeCpu(CpuContext& context, const Tensor& table_handle) const {
  return Export(context, table_handle, Tkeys, Tvalues);
}

Status LookupTableExportV2::ComputeCpu(CpuContext& context, const Tensor& table_handle) const {
  return Export(context, table_handle, Tkeys, Tvalues);
}

Status LookupTableImport::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                     const Tensor& keys, const Tensor& values) const {
  return Import(context, table_handle, keys, values);
}

Status LookupTableImportV2::ComputeCpu(CpuContext& context, const Tensor& table_handle,
                                       const Tensor& keys, const Tensor& values) const {
  return Import(context, table_handle, keys, values);
}

void RegisterTableLookup(Registrar& registrar) {
  registrar.AddAll<InitializeTable, InitializeTableV2, LookupTableFind, LookupTableFindV2,
                   LookupTableInsert, LookupTableInsertV2, LookupTableRemoveV2, LookupTableSize,
                   LookupTableSizeV2, LookupTableExport, LookupTableExportV2, LookupTableImport,
                   LookupTableImportV2>();
}

}  // namespace penstock::ops
