#include "penstock/ops/collections/tensor_list.h"

#include "penstock/ops/collections/tensor_list_value.h"
#include "penstock/ops/collections/testing/graph_test.h"

namespace penstock::ops {
namespace {

class TensorListTest : public GraphTest {
 protected:
  AttrMap Type(DType dtype = DType::kFloat) { return {{"element_dtype", dtype}}; }
  Expr Empty(const Expr& shape, int32_t max = -1, DType dtype = DType::kFloat) {
    return Add("EmptyTensorList", {shape, Int(max)}, Type(dtype));
  }
  Expr Reserve(const Expr& shape, int32_t size, DType dtype = DType::kFloat) {
    return Add("TensorListReserve", {shape, Int(size)}, Type(dtype));
  }
  Expr Push(const Expr& list, const Expr& value) {
    return Add("TensorListPushBack", {list, value});
  }
  Expr Pop(const Expr& list, const Expr& shape, DType dtype = DType::kFloat) {
    return Add("TensorListPopBack", {list, shape}, Type(dtype));
  }
  Expr Get(const Expr& list, int32_t index, const Expr& shape, DType dtype = DType::kFloat) {
    return Add("TensorListGetItem", {list, Int(index), shape}, Type(dtype));
  }
  Expr Set(const Expr& list, int32_t index, const Expr& item, bool resize = false) {
    return Add("TensorListSetItem", {list, Int(index), item},
               {{"resize_if_index_out_of_bounds", resize}});
  }
  Expr Stack(const Expr& list, const Expr& shape, AttrMap attrs = {}) {
    SetAttr(attrs, "element_dtype", DType::kFloat);
    return Add("TensorListStack", {list, shape}, std::move(attrs));
  }
  Expr Gather(const Expr& list, const Expr& indices, const Expr& shape) {
    return Add("TensorListGather", {list, indices, shape}, Type());
  }
  Expr FromTensor(const Expr& value, const Expr& shape) {
    return Add("TensorListFromTensor", {value, shape});
  }
  Expr ConcatV2(const Expr& list, const Expr& shape, std::initializer_list<int64_t> dims) {
    return Add("TensorListConcatV2", {list, shape, Vector<int64_t>(dims)}, Type());
  }
  Expr Length(const Expr& list) { return Add("TensorListLength", {list}); }
  Expr ElementShape(const Expr& list, DType dtype = DType::kInt32) {
    return Add("TensorListElementShape", {list}, {{"shape_type", dtype}});
  }
};

// The graph that TensorFlow's expected values were recorded for.
TEST_F(TensorListTest, DoesWhatTensorFlowDoes) {
  const Expr shape = Ints({2});
  const Expr s2 = Set(Set(Reserve(shape, 3), 0, Floats({1, 2})), 2, Floats({5, 6}));
  const Expr pop = Pop(Push(Push(Empty(shape), Floats({7, 8})), Floats({9, 10})), shape);
  const Expr ft = FromTensor(Matrix<float>({2, 2}, {1, 2, 3, 4}), shape);
  const Expr cn = ConcatV2(ft, Ints({-1}), {});
  Expect({Stack(s2, shape, {{"num_elements", int64_t{3}}}), Length(s2), Get(s2, 2, shape),
          pop.Output(1), Length(pop), Gather(ft, Ints({1, 0}), shape), cn, cn.Output(1),
          ElementShape(ft), Length(Add("TensorListResize", {ft, Int(5)}))},
         {"float [3,2] {1, 2, 0, 0, 5, 6}", "int32 [] {3}", "float [2] {5, 6}", "float [2] {9, 10}",
          "int32 [] {1}", "float [2,2] {3, 4, 1, 2}", "float [4] {1, 2, 3, 4}", "int64 [2] {2, 2}",
          "int32 [1] {2}", "int32 [] {5}"});
}

TEST_F(TensorListTest, ShapesAreInferred) {
  const Expr list = Reserve(Ints({2}), 3);
  EXPECT_EQ(list.shape(), Shape());
  EXPECT_EQ(Get(list, 0, Ints({-1, 3})).shape(), Shape({-1, 3}));
  EXPECT_EQ(Get(list, 0, Int(-1)).shape(), Shape::Unknown());
  EXPECT_EQ(Pop(list, Ints({2})).Output(1).shape(), Shape({2}));
  EXPECT_EQ(Stack(list, Ints({2})).shape(), Shape({-1, 2}));
  EXPECT_EQ(Stack(list, Int(-1)).shape(), Shape::Unknown());
  EXPECT_EQ(Stack(list, Ints({2}), {{"num_elements", int64_t{3}}}).shape(), Shape({3, 2}));
  EXPECT_EQ(Gather(list, Ints({0, 1}), Ints({2})).shape(), Shape({2, 2}));
  EXPECT_EQ(ConcatV2(list, Ints({2, 3}), {}).shape(), Shape({-1, 3}));
  const Expr shape = Placeholder(DType::kInt32);
  EXPECT_EQ(Stack(list, shape).shape(), Shape::Unknown());
  const Result<std::vector<Tensor>> got =
      Run({Stack(list, shape)}, {}, {{shape, Tensor::FromValues<int32_t>({1}, {2})}});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].shape(), Shape({3, 2}));
}

TEST_F(TensorListTest, ListsAreValues) {
  const Expr base = Push(Empty(Int(-1)), Floats({1}));
  const Expr a = Push(base, Floats({2}));
  const Expr b = Push(base, Floats({3}));
  const Expr c = Set(a, 0, Floats({9}));
  Expect({Length(base), Stack(a, Ints({1})), Stack(b, Ints({1})), Stack(c, Ints({1}))},
         {"int32 [] {1}", "float [2,1] {1, 2}", "float [2,1] {1, 3}", "float [2,1] {9, 2}"});
  // A list that was fetched and is fed again is not changed.
  const Result<std::vector<Tensor>> got = Run({a});
  ASSERT_TRUE(got.ok());
  const Expr fed = Placeholder(DType::kVariant, Shape());
  for (int i = 0; i < 2; ++i) {
    const Result<std::vector<Tensor>> longer =
        Run({Length(Push(fed, Floats({5})))}, {}, {{fed, (*got)[0]}});
    ASSERT_TRUE(longer.ok()) << longer.status().ToString();
    EXPECT_EQ((*longer)[0].scalar<int32_t>(), 3);
  }
}

// A loop that pushes changes one list: no copy, whatever its length.
TEST_F(TensorListTest, PushesInPlaceWhenNobodyElseSeesTheList) {
  const Expr push = Push(Empty(Int(-1)), Floats({1}));
  const penstock::Node& node = graph.node(push.ref().node);
  const std::vector<DType> inputs = {DType::kVariant, DType::kFloat}, outputs = {DType::kVariant};
  Result<std::unique_ptr<Kernel>> kernel = StandardKernels().Create(
      "TensorListPushBack", "CPU", {node.decoded, node.name, inputs, outputs});
  ASSERT_TRUE(kernel.ok());
  StepResources step;
  step.allocator = HostAllocator();
  step.state = state.get();
  Tensor list =
      Tensor::Scalar(Variant(std::make_shared<TensorList>(DType::kFloat, Shape::Unknown())));
  const Tensor element = Tensor::Scalar(1.f);
  const Variant::Value* const object = list.scalar<Variant>().value().get();
  const auto run = [&](uint64_t last_use) {
    Tensor value = element, out;
    Tensor* const in[] = {&list, &value};
    KernelContextBuilder builder(&step);
    builder.Inputs(in, 2).Outputs(&out, 1, false).LastUse(last_use);
    EXPECT_TRUE((*kernel)->Compute(builder.context()).ok());
    return out;
  };
  constexpr int kPushes = 100000;
  for (int i = 0; i < kPushes; ++i) list = run(1);
  EXPECT_EQ(list.scalar<Variant>().value().get(), object);
  EXPECT_EQ(list.scalar<Variant>().As<TensorList>()->length(), kPushes);
  // Who still reads the list keeps it as it is.
  const Tensor longer = run(0);
  EXPECT_EQ(list.scalar<Variant>().As<TensorList>()->length(), kPushes);
  EXPECT_EQ(longer.scalar<Variant>().As<TensorList>()->length(), kPushes + 1);
  const Variant other = list.scalar<Variant>();
  const Tensor copied = run(1);
  EXPECT_EQ(other.As<TensorList>()->length(), kPushes);
  EXPECT_EQ(copied.scalar<Variant>().As<TensorList>()->length(), kPushes + 1);
}

TEST_F(TensorListTest, UnsetElementsAreZeros) {
  const Expr list = Reserve(Ints({2}), 2);
  Expect({Get(list, 1, Ints({2})), Pop(list, Int(-1)).Output(1), Stack(list, Int(-1))},
         {"float [2] {0, 0}", "float [2] {0, 0}", "float [2,2] {0, 0, 0, 0}"});
  const Expr vague = Reserve(Int(-1), 2);
  ExpectInvalid(Get(vague, 0, Int(-1)),
                "Trying to read an uninitialized element but element_shape is not fully defined");
  ExpectInvalid(Stack(vague, Int(-1)), "only contains uninitialized tensors");
  const Expr partly = Set(vague, 1, Floats({1, 2}));  // tells the shape of the others
  Expect({Get(partly, 0, Int(-1)), Stack(partly, Int(-1))},
         {"float [2] {0, 0}", "float [2,2] {0, 0, 1, 2}"});
  const Expr strings = Reserve(Ints({1}), 1, DType::kString);
  Expect(Get(strings, 0, Ints({1}), DType::kString), "string [1] {\"\"}");
  Expect({ElementShape(vague), ElementShape(list, DType::kInt64)},
         {"int32 [] {-1}", "int64 [1] {2}"});
}

TEST_F(TensorListTest, WrongIndicesAndTypesAreRefused) {
  const Expr list = FromTensor(Floats({1, 2, 3}), Ints({}));
  ExpectInvalid(Get(list, 3, Int(-1)), "Trying to access element 3 in a list with 3 elements.");
  ExpectInvalid(Get(list, -1, Int(-1)), "Trying to access element -1 in a list with 3 elements.");
  ExpectInvalid(Set(list, 3, s.Constant(Tensor::Scalar(1.f))),
                "Trying to modify element 3 in a list with 3 elements.");
  ExpectInvalid(Set(list, -1, s.Constant(Tensor::Scalar(1.f)), true), "modify element -1");
  Expect(Length(Set(list, 4, s.Constant(Tensor::Scalar(1.f)), true)), "int32 [] {5}");
  ExpectError(Set(list, INT32_MAX, s.Constant(Tensor::Scalar(1.f)), true), Code::kResourceExhausted,
              "too far");
  ExpectInvalid(Set(list, 0, Int(1)),
                "Invalid data types; op elements int32 but list elements float");
  ExpectInvalid(Get(list, 0, Int(-1), DType::kInt32), "op elements int32 but list elements float");
  ExpectInvalid(
      Set(list, 0, Floats({1})),
      "Tried to set a tensor with incompatible shape at a list index. Item element shape: "
      "[1] list shape: []");
  ExpectInvalid(Push(list, Floats({1})), "Tried to append a tensor with incompatible shape");
  ExpectInvalid(Push(list, Int(1)), "list elements float but tried to append int32");
  ExpectInvalid(Pop(Empty(Int(-1)), Int(-1)).Output(1), "Trying to pop from an empty list.");
  ExpectInvalid(Pop(list, Int(-1), DType::kInt32).Output(1), "Invalid data types");
  ExpectInvalid(Get(list, 0, Ints({2})), "the element must have shape [2], got []");
  ExpectInvalid(Gather(list, Ints({0, 3}), Int(-1)),
                "Trying to gather element 3 in a list with 3 elements.");
  const Expr full = Push(Empty(Int(-1), 1), Floats({1}));
  ExpectInvalid(Push(full, Floats({2})), "Tried to push item into a full list");
  ExpectInvalid(Reserve(Int(-1), -1), "must be a non negative number, but got -1");
  ExpectInvalid(Add("TensorListResize", {list, Int(-1)}), "non-negative. Got: -1");
  ExpectRefused("TensorListReserve", {Int(3), Int(1)}, Type(), "The only valid scalar shape");
  ExpectRefused("TensorListReserve", {Matrix<int32_t>({1, 1}, {1}), Int(1)}, Type(), "vector");
  ExpectRefused("TensorListReserve", {Ints({-2}), Int(1)}, Type(), "-2");
  ExpectRefused("TensorListGetItem", {list, Ints({0}), Int(-1)}, Type(), "must be a scalar");
}

TEST_F(TensorListTest, WhatIsNoListIsRefused) {
  const Expr p = Placeholder(DType::kVariant);
  class Other final : public Variant::Value {
    std::string TypeName() const override { return "something"; }
  };
  const std::vector<Expr> readers = {
      Length(p),
      Push(p, Floats({1})),
      Pop(p, Int(-1)),
      Get(p, 0, Int(-1)),
      Stack(p, Int(-1)),
      Set(p, 0, Floats({1})),
      Gather(p, Ints({0}), Int(-1)),
      ElementShape(p),
      ConcatV2(p, Int(-1), {}),
      Add("TensorListResize", {p, Int(1)}),
      Add("TensorListScatterIntoExistingList", {p, Floats({1}), Ints({0})})};
  for (const Tensor& bad :
       {Tensor::Scalar(Variant()), Tensor::Scalar(Variant(std::make_shared<Other>())),
        Tensor(DType::kVariant, Shape{0}), Tensor(DType::kVariant, Shape{2})}) {
    for (const Expr& reader : readers) {
      ExpectError(Run({reader}, {}, {{p, bad}}), Code::kInvalidArgument, "");
    }
  }
}

TEST_F(TensorListTest, StackChecksItsElements) {
  const Expr mixed = Push(Push(Empty(Int(-1)), Floats({1})), Floats({1, 2}));
  ExpectInvalid(Stack(mixed, Int(-1)), "");
  Expect(Gather(mixed, Ints({1, 1}), Int(-1)), "float [2,2] {1, 2, 1, 2}");
  ExpectInvalid(Stack(Empty(Int(-1)), Int(-1)), "Tried to stack elements of an empty list");
  Expect(Stack(Empty(Int(-1)), Ints({2})), "float [0,2] {}");
  ExpectInvalid(Stack(Empty(Ints({2})), Ints({2}), {{"num_elements", int64_t{1}}}),
                "Operation expected a list with 1 elements but got a list with 0 elements.");
  Expect(Stack(FromTensor(Matrix<float>({0, 2}, {}), Int(-1)), Ints({2})), "float [0,2] {}");
  Expect(Gather(Reserve(Ints({2}), 1), Ints({}), Int(-1)), "float [0,2] {}");
}

TEST_F(TensorListTest, ScattersRows) {
  const Expr rows = Matrix<float>({2, 1}, {1, 2});
  const Expr shape = Ints({1});
  const Expr v1 = Add("TensorListScatter", {rows, Ints({2, 0}), shape});
  Expect(Stack(v1, shape), "float [3,1] {2, 0, 1}");
  const Expr v2 = Add("TensorListScatterV2", {rows, Ints({2, 0}), shape, Int(4)});
  Expect(Stack(v2, shape), "float [4,1] {2, 0, 1, 0}");
  Expect(Length(Add("TensorListScatterV2", {rows, Ints({2, 0}), shape, Int(-1)})), "int32 [] {3}");
  const Expr into = Add("TensorListScatterIntoExistingList", {v1, rows, Ints({1, 4})});
  Expect({Stack(into, shape), Stack(v1, shape)},
         {"float [5,1] {2, 1, 1, 0, 2}", "float [3,1] {2, 0, 1}"});
  ExpectInvalid(Add("TensorListScatter", {rows, Ints({-1, 0}), shape}), "non-negative");
  ExpectInvalid(Add("TensorListScatterV2", {rows, Ints({2, 0}), shape, Int(2)}),
                "Trying to scatter at index 2 in list with size 2");
  ExpectInvalid(Add("TensorListScatterV2", {rows, Ints({2, 0}), shape, Int(-2)}),
                "num_elements >= -1");
  ExpectRefused("TensorListScatter", {rows, Ints({0}), shape}, {}, "1 vs. 2");
  ExpectRefused("TensorListScatter", {rows, Ints({0, 1}), Ints({2})}, {},
                "Specified a list with shape [2] from a tensor with shape [1]");
  ExpectRefused("TensorListFromTensor", {s.Constant(Tensor::Scalar(1.f)), Int(-1)}, {}, "rank");
  ExpectInvalid(Add("TensorListScatterIntoExistingList", {v1, Floats({1}), Ints({1})}),
                "Specified a list with shape [1]");
}

TEST_F(TensorListTest, SplitsAndConcats) {
  const Expr value = Matrix<float>({3, 1}, {1, 2, 3});
  const Expr shape = Ints({-1, 1});
  const Expr list = Add("TensorListSplit", {value, shape, Vector<int64_t>({2, 0, 1})});
  const Expr all = ConcatV2(list, shape, {});
  Expect({all, all.Output(1), Get(list, 0, Int(-1))},
         {"float [3,1] {1, 2, 3}", "int64 [3] {2, 0, 1}", "float [2,1] {1, 2}"});
  const Expr v1 = Add("TensorListConcat", {list}, {{"element_dtype", DType::kFloat}});
  Expect({v1, v1.Output(1)}, {"float [3,1] {1, 2, 3}", "int64 [3] {2, 0, 1}"});
  // Unset elements are as long as leading_dims says.
  const Expr longer = Add("TensorListResize", {list, Int(4)});
  Expect(ConcatV2(longer, shape, {9, 9, 9, 2}), "float [5,1] {1, 2, 3, 0, 0}");
  ExpectInvalid(ConcatV2(longer, shape, {}), "List contains uninitialized tensor at index 3");
  ExpectInvalid(ConcatV2(Empty(Int(-1)), Int(-1), {}), "All except the first dimension");
  Expect(ConcatV2(Empty(Int(-1)), Ints({-1, 2}), {}), "float [0,2] {}");
  ExpectInvalid(ConcatV2(FromTensor(Floats({1}), Int(-1)), Int(-1), {}), "found scalars");
  ExpectInvalid(ConcatV2(list, Ints({-1, 2}), {}), "unequal shapes");
  ExpectInvalid(Add("TensorListSplit", {value, shape, Vector<int64_t>({2})}),
                "sum of lengths is 2");
  ExpectInvalid(Add("TensorListSplit", {value, shape, Vector<int64_t>({4, -1})}), "negative");
  ExpectInvalid(Add("TensorListSplit", {value, Ints({1, 1}), Vector<int64_t>({2, 1})}),
                "Specified a list with shape [1,1]");
  ExpectError(ConcatV2(Reserve(Ints({0}), INT32_MAX), Int(-1), {}), Code::kResourceExhausted,
              "long");
}

TEST_F(TensorListTest, JoinsListsAndBatches) {
  const Expr a = FromTensor(Floats({1, 2}), Ints({}));
  const Expr b = FromTensor(Floats({3}), Ints({}));
  const Expr both = Add("TensorListConcatLists", {a, b}, Type());
  Expect(Stack(both, Ints({})), "float [3] {1, 2, 3}");
  ExpectInvalid(Add("TensorListConcatLists", {a, b}, Type(DType::kInt32)), "Invalid data types");
  const Expr handles = Add("Pack", {a, b}, {{"N", int64_t{2}}});
  const Expr batch = Add("TensorListPushBackBatch", {handles, Floats({8, 9})});
  const Expr each = Add("Unpack", {batch}, {{"num", int64_t{2}}});
  Expect({Stack(each, Ints({})), Stack(each.Output(1), Ints({})), Length(a)},
         {"float [3] {1, 2, 8}", "float [2] {3, 9}", "int32 [] {2}"});
  ExpectRefused("TensorListPushBackBatch", {handles, Floats({8})}, {}, "1 vs. 2");
}

TEST_F(TensorListTest, ListsMayLieWithinLists) {
  const Expr inner = FromTensor(Floats({1, 2}), Ints({}));
  Expr outer = Push(Empty(Ints({}), -1, DType::kVariant), inner);
  Expect(Stack(Get(outer, 0, Ints({}), DType::kVariant), Ints({})), "float [2] {1, 2}");
  for (int depth = 0; depth < 300; ++depth) {
    outer = Push(Empty(Ints({}), -1, DType::kVariant), outer);
  }
  ExpectInvalid(Length(outer), "lists may lie within lists");
}

TEST_F(TensorListTest, ZerosAndSums) {
  const Expr list = FromTensor(Floats({1, 2}), Ints({}));
  const Expr other = Set(Reserve(Ints({}), 2), 1, s.Constant(Tensor::Scalar(5.f)));
  const Expr zeros = Add("ZerosLike", {list});
  const Expr sum = Add("AddN", {list, other, list}, {{"N", int64_t{3}}});
  Expect({Stack(zeros, Ints({})), Stack(sum, Ints({})), Stack(list, Ints({}))},
         {"float [2] {0, 0}", "float [2] {2, 9}", "float [2] {1, 2}"});
  ExpectInvalid(Add("AddN", {list, Reserve(Ints({}), 3)}, {{"N", int64_t{2}}}),
                "different lengths. One is 2 and the other is 3");
  ExpectInvalid(Add("AddN", {list, Reserve(Ints({}), 2, DType::kInt32)}, {{"N", int64_t{2}}}),
                "different dtypes");
  ExpectInvalid(Add("AddN", {list, Reserve(Ints({3}), 2)}, {{"N", int64_t{2}}}),
                "incompatible element shapes");
}

TEST_F(TensorListTest, GradientsOfPushAndPop) {
  const Expr x = Floats({1, 2});
  const Expr push = Push(Empty(Ints({2})), x);
  const Expr pop = Pop(push, Ints({2}));
  const std::vector<Expr> of_pop = Differentiate(pop, {Expr(), Floats({3, 4})});
  const std::vector<Expr> of_push = Differentiate(push, {of_pop[0]});
  Expect({of_push[1], Length(of_push[0])}, {"float [2] {3, 4}", "int32 [] {0}"});
}

TEST_F(TensorListTest, GradientsOfItems) {
  const Expr x = Floats({1});
  const Expr set = Set(Reserve(Ints({1}), 2), 1, x);
  const Expr get = Get(set, 1, Ints({1}));
  const std::vector<Expr> of_get = Differentiate(get, {Floats({7})});
  const std::vector<Expr> of_set = Differentiate(set, {of_get[0]});
  Expect({Stack(of_get[0], Ints({1})), of_set[2], Stack(of_set[0], Ints({1}))},
         {"float [2,1] {0, 7}", "float [1] {7}", "float [2,1] {0, 0}"});
  const Expr resized = Add("TensorListResize", {set, Int(1)});
  const std::vector<Expr> of_resize = Differentiate(resized, {resized});
  Expect(Length(of_resize[0]), "int32 [] {2}");
}

TEST_F(TensorListTest, GradientsOfWholeTensors) {
  const Expr x = Matrix<float>({2, 1}, {1, 2});
  const Expr list = FromTensor(x, Ints({1}));
  const std::vector<Expr> of_stack =
      Differentiate(Stack(list, Ints({1})), {Matrix<float>({2, 1}, {3, 4})});
  Expect(Differentiate(list, {of_stack[0]})[0], "float [2,1] {3, 4}");
  const std::vector<Expr> of_gather =
      Differentiate(Gather(list, Ints({1}), Ints({1})), {Matrix<float>({1, 1}, {5})});
  Expect(Stack(of_gather[0], Ints({1})), "float [2,1] {0, 5}");
  const Expr scatter = Add("TensorListScatterV2", {x, Ints({2, 0}), Ints({1}), Int(3)});
  const Expr into = Add("TensorListScatterIntoExistingList", {list, x, Ints({1, 2})});
  const Expr three = FromTensor(Matrix<float>({3, 1}, {7, 8, 9}), Ints({1}));
  Expect(Differentiate(scatter, {three})[0], "float [2,1] {9, 7}");
  const std::vector<Expr> of_into = Differentiate(into, {three});
  Expect({of_into[1], Stack(of_into[0], Ints({1}))}, {"float [2,1] {8, 9}", "float [2,1] {7, 0}"});
  const Expr split =
      Add("TensorListSplit", {Floats({1, 2, 3}), Ints({-1}), Vector<int64_t>({1, 2})});
  const Expr concat = ConcatV2(split, Ints({-1}), {});
  const std::vector<Expr> of_concat = Differentiate(concat, {Floats({4, 5, 6})});
  Expect(Differentiate(split, {of_concat[0]})[0], "float [3] {4, 5, 6}");
}

}  // namespace
}  // namespace penstock::ops
