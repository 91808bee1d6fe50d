#pragma once

#include <cstdint>
#include <span>

#include "penstock/core/function_ref.h"
#include "penstock/core/parallel.h"
#include "penstock/core/tensor.h"

// Whole rows copied from tensor to tensor, whatever their type.

namespace penstock::ops {

// Row i of `to` becomes row rows[i] of `from`. REQUIRES: equal dtypes; rows within `from`.
void GatherTensorRows(const Tensor& from, std::span<const int64_t> rows, int64_t row_elements,
                      Tensor& to, const ParallelFor& each);

// Copies row i of `from` to row place(i) of `to` for all i below n, unless place(i) is negative.
// REQUIRES: equal dtypes; places within `to`, none twice.
void CopyRowsIf(const Tensor& from, Tensor& to, int64_t row_elements, int64_t n,
                const ParallelFor& each, FunctionRef<int64_t(int64_t)> place);

}  // namespace penstock::ops
