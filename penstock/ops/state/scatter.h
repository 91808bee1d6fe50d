#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Variables that are updated where indices say: by rows (variable[indices[i], ...]), or by slices
// that each row of the indices names (the Nd ones). All indices are checked before anything is
// written. Updates to one place follow each other in the order of the indices, so that the result
// has the same bits for any number of threads. use_locking asks for less than what always holds
// (see variable_access.h).

namespace penstock::ops {

// What becomes of a place: the update itself, or what was there combined with it.
enum class ScatterRule { kUpdate, kAdd, kSub, kMul, kDiv, kMin, kMax };

// Where the kernel finds its variable and what its indices mean.
struct ScatterForm {
  ScatterRule rule = ScatterRule::kUpdate;
  bool is_reference = false;
  bool is_nd = false;
  bool ignore_bad = false;
};
Result<std::unique_ptr<Kernel>> MakeScatterKernel(const KernelRequest& request,
                                                  const ScatterForm& form);

// `updates` must be a scalar or hold a row of `variable` for each index. Shapes may be partial.
Status CheckScatter(const Shape& variable, const Shape& indices, const Shape& updates);
Status CheckScatterPolicy(const std::string& bad_indices_policy);
Status CheckScatterNd(const Shape& variable, const Shape& indices, const Shape& updates);

template <FixedString Name, ScatterRule Rule, class T, bool Locking>
struct RefScatter {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  bool use_locking = Locking;
  using Sig = Signature<In<"ref", Ref<T>>, In<"indices", IndexType<"Tindices">>, In<"updates", T>,
                        Out<"output_ref", Ref<T>>>;
  static constexpr std::tuple kAttrs{Field{"use_locking", &RefScatter::use_locking}};

  Result<Shape> InferShape(const Shape& ref, const Shape& indices, const Shape& updates) const {
    TRY(CheckScatter(ref, indices, updates));
    return ref;
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeScatterKernel(request, {.rule = Rule, .is_reference = true});
  }
};

template <FixedString Name, ScatterRule Rule, class T>
struct ResourceScatter {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"resource", ResourceHandle>, In<"indices", IndexType<"Tindices">>,
                        In<"updates", T>>;

  Result<std::vector<Shape>> InferShape(const Handle& resource, const Shape& indices,
                                        const Shape& updates) const {
    TRY(CheckScatter(resource.value_shape, indices, updates));
    return std::vector<Shape>();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeScatterKernel(request, {.rule = Rule});
  }
};

template <FixedString Name, ScatterRule Rule, class T, bool Locking>
struct RefScatterNd {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  bool use_locking = Locking;
  std::string bad_indices_policy;
  using Sig = Signature<In<"ref", Ref<T>>, In<"indices", IndexType<"Tindices">>, In<"updates", T>,
                        Out<"output_ref", Ref<T>>>;
  static constexpr std::tuple kAttrs{
      Field{"use_locking", &RefScatterNd::use_locking},
      Field{"bad_indices_policy", &RefScatterNd::bad_indices_policy}};

  Status CheckAttrs() const { return CheckScatterPolicy(bad_indices_policy); }
  Result<Shape> InferShape(const Shape& ref, const Shape& indices, const Shape& updates) const {
    TRY(CheckScatterNd(ref, indices, updates));
    return ref;
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& decoded = *static_cast<const op_internal::Decoded<RefScatterNd>*>(request.op.get());
    return MakeScatterKernel(request, {.rule = Rule,
                                       .is_reference = true,
                                       .is_nd = true,
                                       .ignore_bad = decoded.op.bad_indices_policy == "IGNORE"});
  }
};

template <FixedString Name, ScatterRule Rule>
struct ResourceScatterNd {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  bool use_locking = true;
  std::string bad_indices_policy;
  using Sig = Signature<In<"ref", ResourceHandle>, In<"indices", IndexType<"Tindices">>,
                        In<"updates", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"use_locking", &ResourceScatterNd::use_locking},
      Field{"bad_indices_policy", &ResourceScatterNd::bad_indices_policy}};

  Status CheckAttrs() const { return CheckScatterPolicy(bad_indices_policy); }
  Result<std::vector<Shape>> InferShape(const Handle& ref, const Shape& indices,
                                        const Shape& updates) const {
    TRY(CheckScatterNd(ref.value_shape, indices, updates));
    return std::vector<Shape>();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& decoded =
        *static_cast<const op_internal::Decoded<ResourceScatterNd>*>(request.op.get());
    return MakeScatterKernel(request, {.rule = Rule,
                                       .is_reference = false,
                                       .is_nd = true,
                                       .ignore_bad = decoded.op.bad_indices_policy == "IGNORE"});
  }
};

using ScatterOrderedType = TypeVar<"T", half, bfloat16, float, double, int32_t, int64_t>;

using ScatterUpdate = RefScatter<"ScatterUpdate", ScatterRule::kUpdate, AnyType<"T">, true>;
using ScatterAdd = RefScatter<"ScatterAdd", ScatterRule::kAdd, NumberType<"T">, false>;
using ScatterSub = RefScatter<"ScatterSub", ScatterRule::kSub, NumberType<"T">, false>;
using ScatterMul = RefScatter<"ScatterMul", ScatterRule::kMul, NumberType<"T">, false>;
using ScatterDiv = RefScatter<"ScatterDiv", ScatterRule::kDiv, NumberType<"T">, false>;
using ScatterMin = RefScatter<"ScatterMin", ScatterRule::kMin, ScatterOrderedType, false>;
using ScatterMax = RefScatter<"ScatterMax", ScatterRule::kMax, ScatterOrderedType, false>;

using ResourceScatterUpdate =
    ResourceScatter<"ResourceScatterUpdate", ScatterRule::kUpdate, AnyType<"dtype">>;
using ResourceScatterAdd =
    ResourceScatter<"ResourceScatterAdd", ScatterRule::kAdd, NumberType<"dtype">>;
using ResourceScatterSub =
    ResourceScatter<"ResourceScatterSub", ScatterRule::kSub, NumberType<"dtype">>;
using ResourceScatterMul =
    ResourceScatter<"ResourceScatterMul", ScatterRule::kMul, NumberType<"dtype">>;
using ResourceScatterDiv =
    ResourceScatter<"ResourceScatterDiv", ScatterRule::kDiv, NumberType<"dtype">>;
using ResourceScatterMin =
    ResourceScatter<"ResourceScatterMin", ScatterRule::kMin, NumberType<"dtype">>;
using ResourceScatterMax =
    ResourceScatter<"ResourceScatterMax", ScatterRule::kMax, NumberType<"dtype">>;

using ScatterNdUpdate = RefScatterNd<"ScatterNdUpdate", ScatterRule::kUpdate, AnyType<"T">, true>;
using ScatterNdAdd = RefScatterNd<"ScatterNdAdd", ScatterRule::kAdd, NumberType<"T">, false>;
using ScatterNdSub = RefScatterNd<"ScatterNdSub", ScatterRule::kSub, NumberType<"T">, false>;
using ScatterNdMin = RefScatterNd<"ScatterNdMin", ScatterRule::kMin, NumberType<"T">, false>;
using ScatterNdMax = RefScatterNd<"ScatterNdMax", ScatterRule::kMax, NumberType<"T">, false>;

using ResourceScatterNdUpdate = ResourceScatterNd<"ResourceScatterNdUpdate", ScatterRule::kUpdate>;
using ResourceScatterNdAdd = ResourceScatterNd<"ResourceScatterNdAdd", ScatterRule::kAdd>;
using ResourceScatterNdSub = ResourceScatterNd<"ResourceScatterNdSub", ScatterRule::kSub>;
using ResourceScatterNdMin = ResourceScatterNd<"ResourceScatterNdMin", ScatterRule::kMin>;
using ResourceScatterNdMax = ResourceScatterNd<"ResourceScatterNdMax", ScatterRule::kMax>;

}  // namespace penstock::ops
