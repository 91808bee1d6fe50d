#include "penstock/ops/collections/table_makers.h"

#include <atomic>
#include <bit>

#include "penstock/ops/collections/handles.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

// Whose a table is: everybody's who knows its container and name, or its handles' alone.
struct TablePlace {
  std::string container;
  std::string name;
  bool is_anonymous = false;
};

class TableKernel final : public Kernel {
 public:
  TableKernel(TableSpec spec, TablePlace place)
      : spec_(std::move(spec)), place_(std::move(place)) {}

  Status Compute(KernelContext& context) override {
    TableSpec spec = spec_;
    if (context.num_inputs() > 0) {
      TRY_ASSIGN(spec.empty_key, CopyTensor(context, context.input(0)));
      spec.key_shape = spec.empty_key.shape();
    }
    if (context.num_inputs() > 1) {
      TRY_ASSIGN(spec.deleted_key, CopyTensor(context, context.input(1)));
    }
    TRY(spec.Check());
    TRY_ASSIGN(std::shared_ptr<LookupTable> table, Table(context, std::move(spec)));
    std::string name = place_.name;
    if (place_.is_anonymous) {
      name = Format("{}_{}_{}", name, context.step_id(),
                    runs_.fetch_add(1, std::memory_order_relaxed));
    }
    TRY_ASSIGN(Tensor handle, MakeHandle(context, place_.container, std::move(name),
                                         std::string(ToString(spec_.kind)), std::move(table)));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  Result<std::shared_ptr<LookupTable>> Table(KernelContext& context, TableSpec spec) const {
    if (place_.is_anonymous) return std::make_shared<LookupTable>(std::move(spec));
    TRY_ASSIGN(std::shared_ptr<LookupTable> table,
               context.state().FindOrMake<LookupTable>(place_.container, place_.name, [&] {
                 return std::make_shared<LookupTable>(spec);
               }));
    const TableSpec& found = table->spec();
    if (found.key_dtype != spec.key_dtype || found.value_dtype != spec.value_dtype) {
      return InvalidArgument("Conflicting key/value dtypes {}->{} with {}-{} for table {}",
                             spec.key_dtype, spec.value_dtype, found.key_dtype, found.value_dtype,
                             Printable(place_.name));
    }
    if (found.kind != spec.kind || !(found.key_shape == spec.key_shape) ||
        !(found.value_shape == spec.value_shape)) {
      return InvalidArgument("table {} must be a {} from {} to {}, got a {} from {} to {}",
                             Printable(place_.name), ToString(spec.kind), spec.key_shape,
                             spec.value_shape, ToString(found.kind), found.key_shape,
                             found.value_shape);
    }
    return table;
  }

  const TableSpec spec_;
  const TablePlace place_;
  std::atomic<int64_t> runs_{0};  // names anonymous tables
};

template <class Op>
Result<std::unique_ptr<Kernel>> MakeTableKernel(const KernelRequest& request) {
  const Op& op = static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
  TableSpec spec;
  spec.kind = Op::kTableKind;
  spec.key_dtype = op.key_dtype;
  spec.value_dtype = op.value_dtype;
  if constexpr (requires { op.value_shape; }) spec.value_shape = op.value_shape;
  TablePlace place;
  place.name = request.node;
  if constexpr (requires { op.shared_name; }) {
    // TensorFlow hides the table of a node without a shared_name from other sessions; ours know
    // it by the node's name in either case, since kernels do not outlive their plan.
    place.container = op.container;
    if (!op.shared_name.empty()) place.name = op.shared_name;
  } else {
    place.is_anonymous = true;
  }
  // The shape of a dense table's keys is known when they come.
  if (spec.kind != TableKind::kMutableDense) TRY(spec.Check());
  return std::unique_ptr<Kernel>(std::make_unique<TableKernel>(std::move(spec), std::move(place)));
}

}  // namespace

Status DenseTableTypes::CheckAttrs() const {
  if (initial_num_buckets <= 0 ||
      !std::has_single_bit(static_cast<uint64_t>(initial_num_buckets))) {
    return InvalidArgument("Number of buckets must be a power of 2, got: {}", initial_num_buckets);
  }
  if (!(max_load_factor > 0 && max_load_factor < 1)) {
    return InvalidArgument("max_load_factor must be between 0 and 1, got: {}", max_load_factor);
  }
  return OkStatus();
}

#define PENSTOCK_TABLE_KERNEL(op)                                                   \
  Result<std::unique_ptr<Kernel>> op::MakeCpuKernel(const KernelRequest& request) { \
    return MakeTableKernel<op>(request);                                            \
  }
PENSTOCK_TABLE_KERNEL(HashTable)
PENSTOCK_TABLE_KERNEL(HashTableV2)
PENSTOCK_TABLE_KERNEL(AnonymousHashTable)
PENSTOCK_TABLE_KERNEL(MutableHashTable)
PENSTOCK_TABLE_KERNEL(MutableHashTableV2)
PENSTOCK_TABLE_KERNEL(AnonymousMutableHashTable)
PENSTOCK_TABLE_KERNEL(MutableHashTableOfTensors)
PENSTOCK_TABLE_KERNEL(MutableHashTableOfTensorsV2)
PENSTOCK_TABLE_KERNEL(AnonymousMutableHashTableOfTensors)
PENSTOCK_TABLE_KERNEL(MutableDenseHashTable)
PENSTOCK_TABLE_KERNEL(MutableDenseHashTableV2)
PENSTOCK_TABLE_KERNEL(AnonymousMutableDenseHashTable)
#undef PENSTOCK_TABLE_KERNEL

void RegisterTableMakers(Registrar& registrar) {
  registrar
      .AddAll<HashTable, HashTableV2, AnonymousHashTable, MutableHashTable, MutableHashTableV2,
              AnonymousMutableHashTable, MutableHashTableOfTensors, MutableHashTableOfTensorsV2,
              AnonymousMutableHashTableOfTensors, MutableDenseHashTable, MutableDenseHashTableV2,
              AnonymousMutableDenseHashTable>();
}

}  // namespace penstock::ops
