#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/graph/op.h"

// Ops are tested by rows: one line says an op, its inputs and what should come out, and gives many
// checks.
//
//   const OpRows kMatMulRows{
//       Row(MatMul{}).Inputs(Uniform({64, 32}), Uniform({32, 48})).Tolerance(1e-5),
//       Row(MatMul{}).Inputs(Uniform({0, 3}), Uniform({3, 5})).Named("empty"),
//       Row(MatMul{}).Inputs(Uniform({2, 3}), Uniform({4, 5})).Fails(Code::kInvalidArgument, "3 vs
//       4"),
//   };
//
// A good row runs with shapes that are full, of known rank and unknown when the graph is built,
// with fed and constant inputs, with and without the compiler's optional passes, on one thread and
// several, and after a round trip through a GraphDef: all must give the same bits, and what was
// inferred must hold. It is compared with Expect or EachElement where given. Where the op has a
// gradient and a kernel for double, that is compared with central differences. A bad row must fail
// with this code and text, whether its inputs are constants or fed.

namespace penstock::ops {}

namespace penstock::rows {

// Rows name structs of ops; where a maker below has the name of an op, the maker is meant.
using namespace ops;

// An input or an expected output. It is made when the test runs; inputs of one row differ in their
// seed.
using Value = std::function<Tensor(uint64_t seed)>;

// The i-th of a sequence of numbers in [0, 1), the same on every machine.
double UniformAt(uint64_t seed, uint64_t i);

// Numbers in [low, high); integers are cut off.
template <class T = float>
Value Uniform(Shape shape, double low = -1, double high = 1) {
  return [shape, low, high](uint64_t seed) {
    Tensor tensor(kDTypeOf<T>, shape);
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      const double x = low + (high - low) * UniformAt(seed, static_cast<uint64_t>(i));
      if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
        tensor.mutable_data<T>()[i] = T(static_cast<float>(x));
      } else {
        tensor.mutable_data<T>()[i] = static_cast<T>(x);
      }
    }
    return tensor;
  };
}
// REQUIRES: as many values as the shape has elements.
template <class T>
Value Values(Shape shape, std::initializer_list<T> values) {
  const Tensor tensor = Tensor::FromValues<T>(shape, values);
  return [tensor](uint64_t) { return tensor; };
}
template <class T>
Value Vector(std::initializer_list<T> values) {
  return Values<T>({static_cast<int64_t>(values.size())}, values);
}
template <class T>
Value Scalar(T value) {
  return Values<T>({}, {value});
}
// REQUIRES: the shape has no elements.
template <class T = float>
Value Empty(Shape shape) {
  return Values<T>(std::move(shape), {});
}

class Row {
 public:
  template <class Op>
  requires requires { Op::kName; }
  explicit Row(const Op& op) : op_(Op::kName), attrs_(op_internal::Encode(op)) {}
  // An op that has no struct in reach.
  explicit Row(std::string_view op) : op_(op) {}

  // An attribute beside those of the struct, such as an output's type that no input tells.
  Row& Attr(std::string_view name, AttrValue value);
  template <class... Values>
  Row& Inputs(Values... values) {
    inputs_ = {std::move(values)...};
    return *this;
  }
  // The outputs, in order.
  template <class... Values>
  Row& Expect(Values... values) {
    expected_ = {std::move(values)...};
    return *this;
  }
  // Output 0 is f of each element of input 0, or of inputs 0 and 1 where these have equal shapes or
  // one has one element.
  Row& EachElement(double (*f)(double));
  Row& EachElement(double (*f)(double, double));
  // Of floating values, both relative and absolute. 1e-5 unless told.
  Row& Tolerance(double tolerance);
  // Added to the test's name.
  Row& Named(std::string_view name);
  Row& Fails(Code code, std::string_view text);
  // Fails unless the gradient could be checked. Without it what is missing is passed over.
  Row& Gradient();
  // Does not check the gradient: the point is not smooth.
  Row& NoGradient();

  const std::string& op() const { return op_; }
  const std::string& name() const { return name_; }

 private:
  friend class RowCheck;
  enum class GradientCheck { kWherePossible, kAlways, kNever };

  std::string op_;
  AttrMap attrs_;
  std::vector<Value> inputs_;
  std::optional<std::vector<Value>> expected_;
  std::function<double(double, double)> each_;
  double tolerance_ = 1e-5;
  std::string name_;
  std::optional<std::pair<Code, std::string>> fails_;
  GradientCheck gradient_ = GradientCheck::kWherePossible;
};

// Does all checks of a row, as part of the running test.
void CheckRow(const Row& row);

// Registers a test <Op>Rows.<number>_<name> for each row. To be a constant of a test file.
class OpRows {
 public:
  OpRows(std::initializer_list<Row> rows,
         std::source_location at = std::source_location::current());
};

}  // namespace penstock::rows
