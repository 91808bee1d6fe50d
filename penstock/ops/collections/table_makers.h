#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/collections/table_state.h"
#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// The nodes that stand for tables. Those without V2 carry their handle as a reference; anonymous
// ones make a table that only their handles own.

namespace penstock::ops {

// What all of them have.
struct TableTypes {
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType key_dtype = DType::kInvalid;
  DType value_dtype = DType::kInvalid;
  static constexpr std::tuple kAttrs{Field{"key_dtype", &TableTypes::key_dtype},
                                     Field{"value_dtype", &TableTypes::value_dtype}};
};

// Those with values of a shape.
struct TensorTableTypes : TableTypes {
  Shape value_shape;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      TableTypes::kAttrs, std::tuple{Field{"value_shape", &TensorTableTypes::value_shape}});
};

// How many buckets there are is our business; TensorFlow's rules for them hold.
struct DenseTableTypes : TensorTableTypes {
  int64_t initial_num_buckets = 131072;
  float max_load_factor = 0.8f;
  static constexpr std::tuple kAttrs =
      std::tuple_cat(TensorTableTypes::kAttrs,
                     std::tuple{Field{"initial_num_buckets", &DenseTableTypes::initial_num_buckets},
                                Field{"max_load_factor", &DenseTableTypes::max_load_factor}});

  Status CheckAttrs() const;
};

// Where a table is that others can find: in a container, by shared_name or else by the node's name.
template <class Base>
struct Named : Base {
  std::string container;
  std::string shared_name;
  bool use_node_name_sharing = false;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      Base::kAttrs,
      std::tuple{Field{"container", &Named::container}, Field{"shared_name", &Named::shared_name},
                 Field{"use_node_name_sharing", &Named::use_node_name_sharing}});
};

// A handle by reference is TensorFlow's vector of two strings; ours is one handle, and its shape is
// left open.
using TableByReference = Signature<Out<"table_handle", Ref<std::string>>>;
using TableByResource = Signature<Out<"table_handle", ResourceHandle>>;

struct HashTable : Named<TableTypes> {
  static constexpr auto kName = "HashTable";
  static constexpr TableKind kTableKind = TableKind::kHash;
  using Sig = TableByReference;
  Result<Shape> InferShape() const { return Shape::Unknown(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
struct HashTableV2 : Named<TableTypes> {
  static constexpr auto kName = "HashTableV2";
  static constexpr TableKind kTableKind = TableKind::kHash;
  using Sig = TableByResource;
  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
struct AnonymousHashTable : TableTypes {
  static constexpr auto kName = "AnonymousHashTable";
  static constexpr TableKind kTableKind = TableKind::kHash;
  using Sig = TableByResource;
  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct MutableHashTable : Named<TableTypes> {
  static constexpr auto kName = "MutableHashTable";
  static constexpr TableKind kTableKind = TableKind::kMutable;
  using Sig = TableByReference;
  Result<Shape> InferShape() const { return Shape::Unknown(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
struct MutableHashTableV2 : Named<TableTypes> {
  static constexpr auto kName = "MutableHashTableV2";
  static constexpr TableKind kTableKind = TableKind::kMutable;
  using Sig = TableByResource;
  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
struct AnonymousMutableHashTable : TableTypes {
  static constexpr auto kName = "AnonymousMutableHashTable";
  static constexpr TableKind kTableKind = TableKind::kMutable;
  using Sig = TableByResource;
  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct MutableHashTableOfTensors : Named<TensorTableTypes> {
  static constexpr auto kName = "MutableHashTableOfTensors";
  static constexpr TableKind kTableKind = TableKind::kMutableOfTensors;
  using Sig = TableByReference;
  Result<Shape> InferShape() const { return Shape::Unknown(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
struct MutableHashTableOfTensorsV2 : Named<TensorTableTypes> {
  static constexpr auto kName = "MutableHashTableOfTensorsV2";
  static constexpr TableKind kTableKind = TableKind::kMutableOfTensors;
  using Sig = TableByResource;
  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
struct AnonymousMutableHashTableOfTensors : TensorTableTypes {
  static constexpr auto kName = "AnonymousMutableHashTableOfTensors";
  static constexpr TableKind kTableKind = TableKind::kMutableOfTensors;
  using Sig = TableByResource;
  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct MutableDenseHashTable : Named<DenseTableTypes> {
  static constexpr auto kName = "MutableDenseHashTable";
  static constexpr TableKind kTableKind = TableKind::kMutableDense;
  using Sig =
      Signature<In<"empty_key", AnyType<"key_dtype">>, Out<"table_handle", Ref<std::string>>>;

  Result<Shape> InferShape(const Shape&) const { return Shape::Unknown(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
struct MutableDenseHashTableV2 : Named<DenseTableTypes> {
  static constexpr auto kName = "MutableDenseHashTableV2";
  static constexpr TableKind kTableKind = TableKind::kMutableDense;
  using Sig =
      Signature<In<"empty_key", AnyType<"key_dtype">>, In<"deleted_key", AnyType<"key_dtype">>,
                Out<"table_handle", ResourceHandle>>;

  Result<Shape> InferShape(const Shape&, const Shape&) const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
struct AnonymousMutableDenseHashTable : DenseTableTypes {
  static constexpr auto kName = "AnonymousMutableDenseHashTable";
  static constexpr TableKind kTableKind = TableKind::kMutableDense;
  using Sig =
      Signature<In<"empty_key", AnyType<"key_dtype">>, In<"deleted_key", AnyType<"key_dtype">>,
                Out<"table_handle", ResourceHandle>>;

  Result<Shape> InferShape(const Shape&, const Shape&) const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

}  // namespace penstock::ops
