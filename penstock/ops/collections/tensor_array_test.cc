#include "penstock/ops/collections/tensor_array.h"

#include <thread>

#include "penstock/ops/collections/testing/graph_test.h"

namespace penstock::ops {
namespace {

class TensorArrayTest : public GraphTest {
 protected:
  Expr Array(int32_t size, AttrMap attrs = {}, DType dtype = DType::kFloat) {
    SetAttr(attrs, "dtype", dtype);
    return Add("TensorArrayV3", {Int(size)}, std::move(attrs));
  }
  static Expr Flow(const Expr& array) { return array.Output(1); }
  Expr Write(const Expr& array, int32_t index, const Expr& value, const Expr& flow) {
    return Add("TensorArrayWriteV3", {array, Int(index), value, flow});
  }
  Expr Read(const Expr& array, int32_t index, const Expr& flow, DType dtype = DType::kFloat) {
    return Add("TensorArrayReadV3", {array, Int(index), flow}, {{"dtype", dtype}});
  }
  Expr Gather(const Expr& array, std::initializer_list<int32_t> indices, const Expr& flow,
              AttrMap attrs = {}) {
    SetAttr(attrs, "dtype", DType::kFloat);
    return Add("TensorArrayGatherV3", {array, Ints(indices), flow}, std::move(attrs));
  }
  Expr Concat(const Expr& array, const Expr& flow, AttrMap attrs = {}) {
    SetAttr(attrs, "dtype", DType::kFloat);
    return Add("TensorArrayConcatV3", {array, flow}, std::move(attrs));
  }
  Expr Size(const Expr& array, const Expr& flow) { return Add("TensorArraySizeV3", {array, flow}); }
};

TEST_F(TensorArrayTest, WritesAndReads) {
  const Expr ta = Array(3);
  const Expr f0 = Write(ta, 0, Floats({1, 2}), Flow(ta));
  const Expr f1 = Write(ta, 2, Floats({5}), f0);  // shapes may differ
  EXPECT_EQ(f1.shape(), Shape());
  for (int step = 0; step < 2; ++step) {
    Expect({Read(ta, 0, f1), Read(ta, 2, f1), Size(ta, f1), f1},
           {"float [2] {1, 2}", "float [1] {5}", "int32 [] {3}", "float [] {0}"});
  }
  EXPECT_TRUE(state->Containers().empty());
}

TEST_F(TensorArrayTest, StacksAndUnstacks) {
  const Expr ta = Array(3);
  const Expr flow = Add("TensorArrayScatterV3",
                        {ta, Ints({2, 0, 1}), Matrix<float>({3, 2}, {1, 2, 3, 4, 5, 6}), Flow(ta)});
  Expect(Gather(ta, {0, 1, 2}, flow), "float [3,2] {3, 4, 5, 6, 1, 2}");
  EXPECT_EQ(Gather(ta, {0, 1}, flow, {{"element_shape", Shape{2}}}).shape(), Shape({2, 2}));
  EXPECT_EQ(Gather(ta, {0, 1}, flow).shape(), Shape::Unknown());
  Expect(Gather(ta, {2, 1}, flow, {{"element_shape", Shape{2}}}), "float [2,2] {1, 2, 5, 6}");
}

TEST_F(TensorArrayTest, SplitsAndConcats) {
  const Expr ta = Array(3);
  const Expr value = Matrix<float>({4, 1}, {1, 2, 3, 4});
  const Expr flow = Add("TensorArraySplitV3", {ta, value, Vector<int64_t>({3, 0, 1}), Flow(ta)});
  const Expr all = Concat(ta, flow, {{"element_shape_except0", Shape{1}}});
  EXPECT_EQ(all.shape(), Shape({-1, 1}));
  Expect({all, all.Output(1)}, {"float [4,1] {1, 2, 3, 4}", "int64 [3] {3, 0, 1}"});
  Expect(Read(ta, 0, flow), "float [3,1] {1, 2, 3}");
  const Expr none = Array(0);
  const Expr empty = Concat(none, Flow(none), {{"element_shape_except0", Shape{5}}});
  Expect({empty, empty.Output(1)}, {"float [0,5] {}", "int64 [0] {}"});
  ExpectError(Concat(none, Flow(none)), Code::kUnimplemented, "TensorArray has size zero");
}

TEST_F(TensorArrayTest, GrowsOnlyWhenDynamic) {
  const Expr fixed = Array(1);
  ExpectInvalid(Write(fixed, 1, Floats({1}), Flow(fixed)),
                "Tried to write to index 1 but array is not resizeable and size is: 1");
  const Expr ta = Array(0, {{"dynamic_size", true}, {"element_shape", Shape{1}}});
  const Expr flow = Write(ta, 4, Floats({7}), Flow(ta));
  Expect({Size(ta, flow), Gather(ta, {4, 1}, flow)}, {"int32 [] {5}", "float [2,1] {7, 0}"});
  ExpectInvalid(Write(ta, -1, Floats({1}), Flow(ta)), "Tried to write to index -1");
  ExpectError(Write(ta, INT32_MAX, Floats({1}), Flow(ta)), Code::kResourceExhausted, "too far");
  const Expr huge = Array(INT32_MAX);
  Expect(Read(huge, 0, Write(huge, 0, Floats({1}), Flow(huge))), "float [1] {1}");
  const Expr vast = Array(INT32_MAX, {{"element_shape", Shape{0}}});
  ExpectError(Concat(vast, Flow(vast)), Code::kResourceExhausted, "too far");
}

TEST_F(TensorArrayTest, ReadsOnceUnlessTold) {
  const Expr ta = Array(3);
  const Expr flow = Write(ta, 1, Floats({1}), Flow(ta));
  const Expr once = Read(ta, 1, flow);
  ExpectInvalid(
      After({once.ref().node}, "TensorArrayReadV3", {ta, Int(1), flow}, {{"dtype", DType::kFloat}}),
      "Could not read index 1 twice because it was cleared after a previous read (perhaps try "
      "setting clear_after_read = false?).");
  ExpectInvalid(Read(ta, 3, flow), "Tried to read from index 3 but array size is: 3");
  ExpectInvalid(Read(ta, -1, flow), "Tried to read from index -1 but array size is: 3");
  ExpectInvalid(Read(ta, 0, flow), "Could not read from TensorArray index 0.");
  ExpectInvalid(Read(ta, 1, flow, DType::kInt32),
                "TensorArray dtype is float but Op requested dtype int32.");
  const Expr kept = Array(1, {{"clear_after_read", false}});
  const Expr kept_flow = Write(kept, 0, Floats({2}), Flow(kept));
  const Expr first = Read(kept, 0, kept_flow);
  const Expr second = After({first.ref().node}, "TensorArrayReadV3", {kept, Int(0), kept_flow},
                            {{"dtype", DType::kFloat}});
  Expect({first, second}, {"float [1] {2}", "float [1] {2}"});
  ExpectInvalid(
      After({first.ref().node}, "TensorArrayWriteV3", {kept, Int(0), Floats({1}), kept_flow}),
      "because it has already been read.");
}

TEST_F(TensorArrayTest, WritesOnceAndChecksShapes) {
  const Expr ta = Array(3, {{"element_shape", Shape{-1}}});
  const Expr flow = Write(ta, 0, Floats({1}), Flow(ta));
  ExpectInvalid(Write(ta, 0, Floats({1}), flow), "because it has already been written to.");
  ExpectInvalid(Write(ta, 1, s.Constant(Tensor::Scalar(1.f)), flow),
                "because the value shape is [] which is incompatible with the TensorArray's "
                "inferred element shape: [?]");
  ExpectInvalid(Write(ta, 1, Ints({1}), flow),
                "TensorArray dtype is float but Op is trying to write dtype int32.");
  ExpectInvalid(Gather(ta, {0, 1}, Write(ta, 1, Floats({1, 2}), flow)),
                "TensorArray has inconsistent shapes.  Index 0 has shape: [1] but index 1 has "
                "shape: [2]");
  const Expr same = Array(2, {{"identical_element_shapes", true}});
  const Expr first = Write(same, 0, Floats({1}), Flow(same));
  ExpectInvalid(Write(same, 1, Floats({1, 2}), first), "incompatible");
  Expect(Read(same, 1, first), "float [1] {0}");  // the shape is known by now
  ExpectInvalid(Gather(ta, {0}, flow, {{"element_shape", Shape{4}}}), "element_shape [4]");
  ExpectInvalid(Concat(ta, flow), "element shape is not fully defined: [?]");
}

TEST_F(TensorArrayTest, BadInputIsRefused) {
  ExpectInvalid(Array(-1), "Size should be >= 0");
  const Expr ta = Array(2);
  const AttrMap dtype = {{"dtype", DType::kFloat}};
  ExpectRefused("TensorArrayV3", {Ints({1, 2})}, dtype, "must be a scalar");
  ExpectRefused("TensorArrayReadV3", {ta, Ints({1, 2}), Flow(ta)}, dtype, "must be a scalar");
  ExpectRefused("TensorArrayGatherV3", {ta, Int(0), Flow(ta)}, dtype, "must be a vector");
  ExpectRefused("TensorArrayScatterV3", {ta, Ints({0}), Floats({1, 2}), Flow(ta)}, {},
                "Expected len(indices) == values.shape[0], but saw: 1 vs. 2");
  const Expr value = Floats({1, 2, 3});
  const auto split = [&](std::initializer_list<int64_t> lengths) {
    return Add("TensorArraySplitV3", {ta, value, Vector<int64_t>(lengths), Flow(ta)});
  };
  ExpectInvalid(split({1, 1}), "sum of lengths is 2 and value's shape is: [3]");
  ExpectInvalid(split({4, -1}), "must not be negative, got -1");
  ExpectInvalid(split({INT64_MAX, INT64_MAX}), "must fit");
  ExpectInvalid(split({1, 1, 1}),
                "TensorArray's size is not equal to the size of lengths (2 vs. 3)");
  const Expr index = Placeholder(DType::kInt32);
  const Expr read = Add("TensorArrayReadV3", {ta, index, Flow(ta)}, dtype);
  ExpectError(Run({read}, {}, {{index, Tensor(DType::kInt32, Shape{0})}}), Code::kInvalidArgument,
              "must be a scalar");
  const Expr scalars = Add("TensorArrayScatterV3", {ta, Ints({0, 1}), Floats({1, 2}), Flow(ta)});
  ExpectInvalid(Concat(ta, scalars), "Concat saw a scalar shape at index 0");
  const NodeId close = Node("TensorArrayCloseV3", {ta});
  ExpectInvalid(After({close}, "TensorArraySizeV3", {ta, Flow(ta)}), "has already been closed.");
  ExpectInvalid(After({close}, "TensorArrayReadV3", {ta, Int(0), Flow(ta)}, dtype), "closed");
}

TEST_F(TensorArrayTest, HostileHandlesAreRefused) {
  const Expr h = Placeholder(DType::kResource);
  const Expr flow = s.Constant(Tensor::Scalar(0.f));
  ExpectHostileHandlesAreRefused(
      h,
      {Write(h, 0, Floats({1}), flow), Read(h, 0, flow), Gather(h, {0}, flow), Concat(h, flow),
       Add("TensorArrayScatterV3", {h, Ints({0}), Floats({1}), flow}),
       Add("TensorArraySplitV3", {h, Floats({1}), Vector<int64_t>({1}), flow}), Size(h, flow),
       Add("TensorArrayGradV3", {h, flow}, {{"source", "gradients"}})},
      {Node("TensorArrayCloseV3", {h})});
}

TEST_F(TensorArrayTest, StringsAndEmptyElements) {
  const Expr ta = Array(2, {}, DType::kString);
  const Expr flow = Write(ta, 0, Vector<std::string>({"a", "b"}), Flow(ta));
  const Expr more = Write(ta, 1, Vector<std::string>({"c", "d"}), flow);
  const Expr all =
      Add("TensorArrayGatherV3", {ta, Ints({1, 0}), more}, {{"dtype", DType::kString}});
  Expect(all, "string [2,2] {\"c\", \"d\", \"a\", \"b\"}");
  const Expr none = Array(1, {{"element_shape", Shape{0, 2}}});
  Expect(Gather(none, {0}, Flow(none)), "float [1,0,2] {}");
  Expect(Gather(none, {}, Flow(none)), "float [0,0,2] {}");
  ExpectError(Gather(ta, {}, more), Code::kInvalidArgument, "TensorArray dtype is string");
}

TEST_F(TensorArrayTest, GradientArraysAddUp) {
  const Expr ta = Array(3, {{"dynamic_size", true}});
  const Expr flow = Write(ta, 0, Floats({1, 2}), Flow(ta));
  const Expr grad = Add("TensorArrayGradV3", {ta, flow}, {{"source", "gradients"}});
  const Expr same = Add("TensorArrayGradV3", {ta, grad.Output(1)}, {{"source", "gradients"}});
  const Expr f1 = Write(grad, 0, Floats({1, 1}), grad.Output(1));
  const Expr f2 = Write(same, 0, Floats({10, 20}), f1);
  const Expr f3 = Write(same, 0, Floats({100, 200}), f2);
  Expect(Read(grad, 0, f3), "float [2] {111, 221}");
  Expect(Read(grad, 0, grad.Output(1)), "float [2] {0, 0}");  // of the forward element's shape
  ExpectInvalid(Write(grad, 0, Floats({1}), f1),
                "Could not aggregate to TensorArray index 0 because the existing shape is [2] but "
                "the new input shape is [1].");
  ExpectInvalid(Read(grad, 1, f3), "Could not read from TensorArray index 1");
  const Expr other = Add("TensorArrayGradV3", {ta, f3}, {{"source", "gradients_1"}});
  Expect(Read(other, 0, other.Output(1)), "float [2] {0, 0}");
  // From then on the array does not grow.
  ExpectInvalid(After({grad.ref().node}, "TensorArrayWriteV3", {ta, Int(3), Floats({1}), flow}),
                "array is not resizeable");
  const Expr wide = Add("TensorArrayGradWithShape", {ta, flow, Ints({3})}, {{"source", "wide"}});
  Expect(Read(wide, 0, wide.Output(1)), "float [3,2] {0, 0, 0, 0, 0, 0}");
  ExpectInvalid(Add("TensorArrayGradWithShape", {ta, flow, Ints({-2})}, {{"source", "bad"}}), "");
}

// y = read(write(x)): the gradient goes back through the arrays of gradients.
TEST_F(TensorArrayTest, GradientOfWriteAndRead) {
  const Expr x = Floats({1, 2});
  const Expr ta = Array(2, {{"clear_after_read", false}});
  const Expr flow = Write(ta, 1, x, Flow(ta));
  const Expr read = Read(ta, 1, flow);
  const std::vector<Expr> of_read = Differentiate(read, {Floats({3, 4})});
  const std::vector<Expr> of_write = Differentiate(flow, {of_read[2]});
  EXPECT_FALSE(of_read[0].valid());
  Expect({read, of_write[2]}, {"float [2] {1, 2}", "float [2] {3, 4}"});
}

TEST_F(TensorArrayTest, GradientOfScatterAndGather) {
  const Expr ta = Array(2, {{"clear_after_read", false}});
  const Expr flow = Add("TensorArrayScatterV3", {ta, Ints({1, 0}), Floats({1, 2}), Flow(ta)});
  const Expr gather = Gather(ta, {0, 1}, flow);
  const std::vector<Expr> of_gather = Differentiate(gather, {Floats({3, 4})});
  const std::vector<Expr> of_scatter = Differentiate(flow, {of_gather[2]});
  Expect({gather, of_scatter[2]}, {"float [2] {2, 1}", "float [2] {4, 3}"});
}

TEST_F(TensorArrayTest, GradientOfSplitAndConcat) {
  const Expr ta = Array(2, {{"clear_after_read", false}});
  const Expr flow =
      Add("TensorArraySplitV3", {ta, Floats({1, 2, 3}), Vector<int64_t>({1, 2}), Flow(ta)});
  const Expr concat = Concat(ta, flow);
  const std::vector<Expr> of_concat = Differentiate(concat, {Floats({4, 5, 6})});
  const std::vector<Expr> of_split = Differentiate(flow, {of_concat[1]});
  Expect({concat, of_split[1]}, {"float [3] {1, 2, 3}", "float [3] {4, 5, 6}"});
}

// An array belongs to its step: steps at once do not see one another's.
TEST_F(TensorArrayTest, ConcurrentStepsHaveTheirOwn) {
  const Expr x = Placeholder(DType::kFloat, {1});
  const Expr ta = Array(2);
  const Expr f0 = Write(ta, 0, x, Flow(ta));
  const Expr f1 = Write(ta, 1, x + x, f0);
  const Expr all = Gather(ta, {0, 1}, f1);
  ASSERT_TRUE(Run({all}, {}, {{x, Tensor::FromValues<float>({1}, {0})}}).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const float value = static_cast<float>(t * 100 + i);
        const auto got = Run({all}, {}, {{x, Tensor::FromValues<float>({1}, {value})}});
        ASSERT_TRUE(got.ok()) << got.status().ToString();
        ASSERT_EQ((*got)[0].data<float>()[0], value);
        ASSERT_EQ((*got)[0].data<float>()[1], 2 * value);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace penstock::ops
