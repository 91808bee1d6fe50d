#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// What is done to tables, whatever their kind. Each op has an older form whose handle is a
// reference.

namespace penstock::ops {

// The two kinds of handles.
using TableReference = In<"table_handle", Ref<std::string>>;
using TableResource = In<"table_handle", ResourceHandle>;

// Fills a table that is filled once.
struct InitializeTable {
  static constexpr auto kName = "InitializeTable";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableReference, In<"keys", AnyType<"Tkey">>, In<"values", AnyType<"Tval">>>;

  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, const Tensor& keys,
                    const Tensor& values) const;
};

struct InitializeTableV2 {
  static constexpr auto kName = "InitializeTableV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableResource, In<"keys", AnyType<"Tkey">>, In<"values", AnyType<"Tval">>>;

  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, const Tensor& keys,
                    const Tensor& values) const;
};

// The values of the keys; default_value where there is none.
struct LookupTableFind {
  static constexpr auto kName = "LookupTableFind";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableReference, In<"keys", AnyType<"Tin">>,
                        In<"default_value", AnyType<"Tout">>, Out<"values", AnyType<"Tout">>>;

  Result<Shape> InferShape(const Shape&, const Shape&, const Shape&) const {
    return Shape::Unknown();
  }
  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, const Tensor& keys,
                    const Tensor& default_value) const;
};

struct LookupTableFindV2 {
  static constexpr auto kName = "LookupTableFindV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableResource, In<"keys", AnyType<"Tin">>,
                        In<"default_value", AnyType<"Tout">>, Out<"values", AnyType<"Tout">>>;

  Result<Shape> InferShape(const Shape&, const Shape&, const Shape&) const {
    return Shape::Unknown();
  }
  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, const Tensor& keys,
                    const Tensor& default_value) const;
};

// Adds or replaces the values of these keys.
struct LookupTableInsert {
  static constexpr auto kName = "LookupTableInsert";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableReference, In<"keys", AnyType<"Tin">>, In<"values", AnyType<"Tout">>>;

  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, const Tensor& keys,
                    const Tensor& values) const;
};

struct LookupTableInsertV2 {
  static constexpr auto kName = "LookupTableInsertV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableResource, In<"keys", AnyType<"Tin">>, In<"values", AnyType<"Tout">>>;

  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, const Tensor& keys,
                    const Tensor& values) const;
};

// Keys that are not there are passed over.
struct LookupTableRemoveV2 {
  static constexpr auto kName = "LookupTableRemoveV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableResource, In<"keys", AnyType<"Tin">>>;

  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, const Tensor& keys) const;
};

struct LookupTableSize {
  static constexpr auto kName = "LookupTableSize";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableReference, Out<"size", int64_t>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, std::span<int64_t> size) const;
};

struct LookupTableSizeV2 {
  static constexpr auto kName = "LookupTableSizeV2";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableResource, Out<"size", int64_t>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, std::span<int64_t> size) const;
};

// All keys and values, in an order of the table's own.
struct LookupTableExport {
  static constexpr auto kName = "LookupTableExport";
  static constexpr bool kNoGradient = true;
  DType Tkeys = DType::kInvalid;
  DType Tvalues = DType::kInvalid;
  using Sig =
      Signature<TableReference, Out<"keys", AnyType<"Tkeys">>, Out<"values", AnyType<"Tvalues">>>;
  static constexpr std::tuple kAttrs{Field{"Tkeys", &LookupTableExport::Tkeys},
                                     Field{"Tvalues", &LookupTableExport::Tvalues}};

  Result<Shape> InferShape(const Shape&) const { return Shape::Unknown(); }
  Status ComputeCpu(CpuContext& context, const Tensor& table_handle) const;
};

struct LookupTableExportV2 {
  static constexpr auto kName = "LookupTableExportV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  DType Tkeys = DType::kInvalid;
  DType Tvalues = DType::kInvalid;
  using Sig =
      Signature<TableResource, Out<"keys", AnyType<"Tkeys">>, Out<"values", AnyType<"Tvalues">>>;
  static constexpr std::tuple kAttrs{Field{"Tkeys", &LookupTableExportV2::Tkeys},
                                     Field{"Tvalues", &LookupTableExportV2::Tvalues}};

  Result<Shape> InferShape(const Shape&) const { return Shape::Unknown(); }
  Status ComputeCpu(CpuContext& context, const Tensor& table_handle) const;
};

// Replaces the table's content.
struct LookupTableImport {
  static constexpr auto kName = "LookupTableImport";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableReference, In<"keys", AnyType<"Tin">>, In<"values", AnyType<"Tout">>>;

  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, const Tensor& keys,
                    const Tensor& values) const;
};

struct LookupTableImportV2 {
  static constexpr auto kName = "LookupTableImportV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<TableResource, In<"keys", AnyType<"Tin">>, In<"values", AnyType<"Tout">>>;

  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, const Tensor& keys,
                    const Tensor& values) const;
};

}  // namespace penstock::ops
