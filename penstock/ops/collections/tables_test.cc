#include <algorithm>
#include <thread>
#include <tuple>

#include "penstock/ops/collections/table_makers.h"
#include "penstock/ops/collections/testing/graph_test.h"

namespace penstock::ops {
namespace {

class TablesTest : public GraphTest {
 protected:
  static AttrMap Types(DType key, DType value) {
    return {{"key_dtype", key}, {"value_dtype", value}};
  }
  Expr Table(std::string_view op, DType key, DType value, std::string_view name = "t",
             AttrMap attrs = {}) {
    SetAttr(attrs, "key_dtype", key);
    SetAttr(attrs, "value_dtype", value);
    return Add(op, {}, std::move(attrs), name);
  }
  Expr Dense(const Expr& empty, const Expr& deleted, DType value, AttrMap attrs = {}) {
    SetAttr(attrs, "value_dtype", value);
    return Add("MutableDenseHashTableV2", {empty, deleted}, std::move(attrs), "dense");
  }
  Expr Words(std::initializer_list<std::string> words) { return Vector<std::string>(words); }
  Expr Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }
  Expr Long(int64_t value) { return s.Constant(Tensor::Scalar(value)); }
  Expr Float(float value) { return s.Constant(Tensor::Scalar(value)); }
  Expr Find(const Expr& table, const Expr& keys, const Expr& otherwise) {
    return Add("LookupTableFindV2", {table, keys, otherwise});
  }
  Expr Size(const Expr& table) { return Add("LookupTableSizeV2", {table}); }
  NodeId Insert(const Expr& table, const Expr& keys, const Expr& values) {
    return Node("LookupTableInsertV2", {table, keys, values});
  }
  NodeId Initialize(const Expr& table, const Expr& keys, const Expr& values) {
    return Node("InitializeTableV2", {table, keys, values});
  }
  Expr Export(const Expr& table, DType key, DType value) {
    return Add("LookupTableExportV2", {table}, {{"Tkeys", key}, {"Tvalues", value}});
  }
  void ExpectRuns(NodeId target) {
    const Result<std::vector<Tensor>> got = Run({}, {target});
    EXPECT_TRUE(got.ok()) << got.status().ToString();
  }
  void ExpectTargetFails(NodeId target, Code code, std::string_view text) {
    ExpectError(Run({}, {target}), code, text);
  }
};

// The graph that TensorFlow's expected values were recorded for.
TEST_F(TablesTest, DoWhatTensorFlowDoes) {
  const Expr h = Table("HashTableV2", DType::kString, DType::kInt64, "h", {{"shared_name", "t"}});
  const Expr f = Find(h, Words({"b", "z", "a"}), Long(-1));
  const Expr m = Table("MutableHashTableV2", DType::kInt64, DType::kFloat, "m");
  const Expr mf = Find(m, Longs({4, 9}), Float(0));
  ExpectRuns(Initialize(h, Words({"a", "b"}), Longs({1, 2})));
  Expect({f, Size(h)}, {"int64 [3] {2, -1, 1}", "int64 [] {2}"});
  ExpectRuns(Insert(m, Longs({3, 4}), Floats({0.5, 1.5})));
  Expect(mf, "float [2] {1.5, 0}");
  ExpectRuns(Node("LookupTableRemoveV2", {m, Longs({4})}));
  Expect(mf, "float [2] {0, 0}");
  EXPECT_NE(state->DebugString().find("HashTable string -> int64 [] with 2 entries"),
            std::string::npos)
      << state->DebugString();
}

TEST_F(TablesTest, AStaticTableIsFilledOnce) {
  const Expr h = Table("HashTableV2", DType::kString, DType::kInt64);
  const Expr f = Find(h, Words({"a"}), Long(-1));
  ExpectError(f, Code::kFailedPrecondition, "Table not initialized.");
  ExpectError(Export(h, DType::kString, DType::kInt64), Code::kAborted, "not initialized");
  Expect(Size(h), "int64 [] {0}");
  ExpectTargetFails(Initialize(h, Words({"a", "a"}), Longs({1, 2})), Code::kInvalidArgument,
                    "HashTable has different value for same key. Key a has 1 and trying to add "
                    "value 2");
  ExpectError(f, Code::kFailedPrecondition, "Table not initialized.");
  ExpectRuns(Initialize(h, Words({"a", "a", "b"}), Longs({1, 1, 2})));
  Expect({f, Size(h)}, {"int64 [1] {1}", "int64 [] {2}"});
  ExpectRuns(Initialize(h, Words({"b", "a"}), Longs({2, 1})));
  ExpectTargetFails(Initialize(h, Words({"b", "a"}), Longs({2, 3})), Code::kFailedPrecondition,
                    "Table was already initialized with different data.");
  ExpectTargetFails(Initialize(h, Words({"b"}), Longs({2})), Code::kFailedPrecondition,
                    "different");
  ExpectTargetFails(Insert(h, Words({"b"}), Longs({2})), Code::kUnimplemented, "Insert");
  ExpectTargetFails(Node("LookupTableRemoveV2", {h, Words({"b"})}), Code::kUnimplemented, "Remove");
  // Into a table that is filled once, import is its initialization.
  ExpectTargetFails(Node("LookupTableImportV2", {h, Words({"b"}), Longs({3})}),
                    Code::kFailedPrecondition, "different");
  const Expr all = Export(h, DType::kString, DType::kInt64);
  Expect({all, all.Output(1)}, {"string [2] {\"a\", \"b\"}", "int64 [2] {1, 2}"});
}

TEST_F(TablesTest, MutableTablesChange) {
  const Expr m = Table("MutableHashTableV2", DType::kString, DType::kString);
  const Expr f = Find(m, Matrix<std::string>({2, 2}, {"a", "b", "c", "d"}),
                      s.Constant(Tensor::Scalar<std::string>("-")));
  Expect({f, Size(m)}, {"string [2,2] {\"-\", \"-\", \"-\", \"-\"}", "int64 [] {0}"});
  ExpectRuns(Insert(m, Words({"a", "b", "c"}), Words({"1", "2", "3"})));
  ExpectRuns(Insert(m, Words({"b"}), Words({"20"})));
  Expect({f, Size(m)}, {"string [2,2] {\"1\", \"20\", \"3\", \"-\"}", "int64 [] {3}"});
  ExpectRuns(Node("LookupTableRemoveV2", {m, Words({"a", "nobody"})}));
  const Expr all = Export(m, DType::kString, DType::kString);
  Expect({f, Size(m), all, all.Output(1)},
         {"string [2,2] {\"-\", \"20\", \"3\", \"-\"}", "int64 [] {2}", "string [2] {\"c\", \"b\"}",
          "string [2] {\"3\", \"20\"}"});
  ExpectRuns(Node("LookupTableImportV2", {m, Words({"d"}), Words({"4"})}));
  Expect({f, Size(m)}, {"string [2,2] {\"-\", \"-\", \"-\", \"4\"}", "int64 [] {1}"});
  ExpectRuns(Node("LookupTableImportV2", {m, Words({}), Words({})}));
  Expect({Size(m), all}, {"int64 [] {0}", "string [0] {}"});
  // A default for each key.
  const Expr each = Find(m, Words({"x", "y"}), Words({"1", "2"}));
  Expect(each, "string [2] {\"1\", \"2\"}");
  ExpectRuns(Insert(m, s.Constant(Tensor::Scalar<std::string>("x")),
                    s.Constant(Tensor::Scalar<std::string>("8"))));
  Expect(each, "string [2] {\"8\", \"2\"}");
}

TEST_F(TablesTest, ManyEntriesSurviveGrowthAndRemoval) {
  constexpr int64_t kCount = 5000;
  Tensor keys(DType::kInt64, {kCount}), values(DType::kDouble, {kCount}),
      half(DType::kInt64, {kCount / 2});
  for (int64_t i = 0; i < kCount; ++i) {
    keys.mutable_data<int64_t>()[i] = i * 7919;
    values.mutable_data<double>()[i] = static_cast<double>(i);
    if (i % 2 == 0) half.mutable_data<int64_t>()[i / 2] = i * 7919;
  }
  const Expr m = Table("MutableHashTableV2", DType::kInt64, DType::kDouble);
  ExpectRuns(Insert(m, s.Constant(keys), s.Constant(values)));
  ExpectRuns(Node("LookupTableRemoveV2", {m, s.Constant(half)}));
  const auto got = Run({Find(m, s.Constant(keys), s.Constant(Tensor::Scalar(-1.0))), Size(m)});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[1].scalar<int64_t>(), kCount / 2);
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ((*got)[0].data<double>()[i], i % 2 == 0 ? -1.0 : static_cast<double>(i)) << i;
  }
  EXPECT_GT(state->Find("", "t")->MemoryBytes(), static_cast<size_t>(kCount) * 8);
}

TEST_F(TablesTest, TablesOfTensors) {
  const Expr m = Table("MutableHashTableOfTensorsV2", DType::kInt32, DType::kInt64, "t",
                       {{"value_shape", Shape{2}}});
  ExpectRuns(Insert(m, Ints({1, 2}), Matrix<int64_t>({2, 2}, {10, 11, 20, 21})));
  Expect(Find(m, Ints({2, 3}), Longs({-1, -2})), "int64 [2,2] {20, 21, -1, -2}");
  Expect(Find(m, Ints({2, 3}), Matrix<int64_t>({2, 2}, {1, 2, 3, 4})),
         "int64 [2,2] {20, 21, 3, 4}");
  const Expr all = Export(m, DType::kInt32, DType::kInt64);
  Expect({all, all.Output(1)}, {"int32 [2] {1, 2}", "int64 [2,2] {10, 11, 20, 21}"});
  ExpectError(Find(m, Ints({2, 3}), Long(1)), Code::kInvalidArgument,
              "Expected shape [2] or [2,2] for default value, got []");
  ExpectTargetFails(Insert(m, Ints({1}), Longs({1, 2, 3})), Code::kInvalidArgument,
                    "Expected shape [1,2] for value, got [3]");
  ExpectInvalid(Size(Table("MutableHashTableOfTensorsV2", DType::kInt32, DType::kInt64, "u")),
                "Default value must be a vector, got shape []");
}

TEST_F(TablesTest, DenseTablesSetKeysAside) {
  const Expr d = Dense(Long(0), Long(-1), DType::kFloat);
  ExpectRuns(Insert(d, Longs({1, 2}), Floats({10, 20})));
  Expect({Find(d, Longs({2, 3}), Float(-5)), Size(d)}, {"float [2] {20, -5}", "int64 [] {2}"});
  ExpectRuns(Node("LookupTableRemoveV2", {d, Longs({1})}));
  const Expr all = Export(d, DType::kInt64, DType::kFloat);
  Expect({all, all.Output(1)}, {"int64 [1] {2}", "float [1] {20}"});
  ExpectTargetFails(Insert(d, Longs({0}), Floats({1})), Code::kInvalidArgument,
                    "Using the empty_key as a table key is not allowed");
  ExpectInvalid(Find(d, Longs({-1}), Float(0)), "Using the deleted_key as a table key");
  ExpectInvalid(Size(Dense(Long(3), Long(3), DType::kFloat)), "cannot be equal");
  ExpectInvalid(Size(Dense(Long(3), Longs({3}), DType::kFloat)), "must have same shape");
  ExpectInvalid(
      Size(Dense(Matrix<int64_t>({1, 1}, {1}), Matrix<int64_t>({1, 1}, {2}), DType::kFloat)),
      "must be a scalar or a vector");
  AttrMap attrs = {{"value_dtype", DType::kFloat}, {"initial_num_buckets", int64_t{3}}};
  ExpectRefused("MutableDenseHashTableV2", {Long(0), Long(1)}, attrs, "power of 2, got: 3");
  attrs = {{"value_dtype", DType::kFloat}, {"max_load_factor", 1.5f}};
  ExpectRefused("MutableDenseHashTableV2", {Long(0), Long(1)}, attrs, "between 0 and 1");
}

TEST_F(TablesTest, DenseTablesTakeVectorsAsKeys) {
  const Expr d = Dense(Longs({0, 0}), Longs({-1, -1}), DType::kString, {{"value_shape", Shape{1}}});
  ExpectRuns(
      Insert(d, Matrix<int64_t>({2, 2}, {1, 2, 2, 1}), Matrix<std::string>({2, 1}, {"a", "b"})));
  Expect(Find(d, Matrix<int64_t>({2, 2}, {2, 1, 2, 2}), Words({"-"})),
         "string [2,1] {\"b\", \"-\"}");
  ExpectInvalid(Find(d, Longs({1, 2, 3}), Words({"-"})),
                "Input key shape [3] must end with the table's key shape [2]");
  const Expr w = Add("AnonymousMutableDenseHashTable", {Words({"", ""}), Words({"x", "x"})},
                     {{"value_dtype", DType::kInt32}});
  const NodeId insert =
      Insert(w, Matrix<std::string>({2, 2}, {"ab", "c", "a", "bc"}), Ints({1, 2}));
  const Expr found = After({insert}, "LookupTableFindV2",
                           {w, Matrix<std::string>({2, 2}, {"a", "bc", "ab", "c"}), Int(0)});
  Expect(found, "int32 [2] {2, 1}");
}

TEST_F(TablesTest, OlderOpsTakeReferences) {
  const Expr h = Table("HashTable", DType::kString, DType::kInt64);
  const Expr f = Add("LookupTableFind", {h, Words({"a", "z"}), Long(-1)});
  ExpectError(f, Code::kFailedPrecondition, "Table not initialized.");
  ExpectRuns(Node("InitializeTable", {h, Words({"a"}), Longs({1})}));
  Expect({f, Add("LookupTableSize", {h})}, {"int64 [2] {1, -1}", "int64 [] {1}"});
  const Expr m = Table("MutableHashTable", DType::kInt32, DType::kBool, "m");
  ExpectRuns(Node("LookupTableInsert", {m, Ints({1}), Vector<bool>({true})}));
  const AttrMap types = {{"Tkeys", DType::kInt32}, {"Tvalues", DType::kBool}};
  const Expr all = Add("LookupTableExport", {m}, types);
  Expect({all, all.Output(1)}, {"int32 [1] {1}", "bool [1] {true}"});
  ExpectRuns(Node("LookupTableImport", {m, Ints({5, 6}), Vector<bool>({true, false})}));
  Expect(Add("LookupTableSize", {m}), "int64 [] {2}");
  const Expr t = Table("MutableHashTableOfTensors", DType::kInt32, DType::kFloat, "tensors",
                       {{"value_shape", Shape{1}}});
  Expect(Add("LookupTableFind", {t, Ints({1}), Floats({3})}), "float [1,1] {3}");
  const Expr d = Add("MutableDenseHashTable", {Int(0)}, {{"value_dtype", DType::kFloat}});
  Expect(Add("LookupTableFind", {d, Ints({1}), Float(3)}), "float [1] {3}");
  // A reference that was fed is no table.
  ExpectError(Run({f}, {}, {{h, Tensor::FromValues<std::string>({2}, {"a", "b"})}}),
              Code::kInvalidArgument, "expected a handle");
}

TEST_F(TablesTest, TypesMustAgree) {
  const Expr m = Table("MutableHashTableV2", DType::kString, DType::kInt64);
  ExpectTargetFails(Insert(m, Longs({1}), Longs({1})), Code::kInvalidArgument,
                    "Key must be type string but got int64");
  ExpectTargetFails(Insert(m, Words({"a"}), Floats({1})), Code::kInvalidArgument,
                    "Value must be type int64 but got float");
  ExpectTargetFails(Insert(m, Words({"a"}), Longs({1, 2})), Code::kInvalidArgument,
                    "Expected shape [1] for value, got [2]");
  ExpectInvalid(Find(m, Longs({1}), Long(1)), "Key must be type string");
  ExpectInvalid(Find(m, Words({"a"}), Float(1)), "Value must be type int64");
  ExpectInvalid(Find(m, Words({"a"}), Longs({1, 2})), "Expected shape [] or [1] for default value");
  ExpectInvalid(Export(m, DType::kInt64, DType::kInt64), "string->int64");
  ExpectTargetFails(Node("LookupTableRemoveV2", {m, Longs({1})}), Code::kInvalidArgument, "Key");
  ExpectTargetFails(Initialize(m, Words({"a"}), Longs({1})), Code::kInvalidArgument,
                    "not initializable");
  const Expr h = Table("HashTableV2", DType::kString, DType::kInt64, "h");
  ExpectTargetFails(Initialize(h, Matrix<std::string>({1, 1}, {"a"}), Matrix<int64_t>({1, 1}, {1})),
                    Code::kInvalidArgument, "Keys must be a vector");
  ExpectError(Size(Table("HashTableV2", DType::kFloat, DType::kInt64, "f")), Code::kUnimplemented,
              "int32, int64 or string, got float");
}

TEST_F(TablesTest, NamesAreShared) {
  const AttrMap shared = {{"shared_name", "same"}};
  const Expr a = Table("MutableHashTableV2", DType::kInt64, DType::kInt64, "a", shared);
  const Expr b = Table("MutableHashTableV2", DType::kInt64, DType::kInt64, "b", shared);
  ExpectRuns(Insert(a, Longs({1}), Longs({2})));
  Expect(Size(b), "int64 [] {1}");
  AttrMap elsewhere = shared;
  SetAttr(elsewhere, "container", "elsewhere");
  Expect(Size(Table("MutableHashTableV2", DType::kInt64, DType::kInt64, "c", elsewhere)),
         "int64 [] {0}");
  ExpectInvalid(Size(Table("MutableHashTableV2", DType::kInt64, DType::kFloat, "d", shared)),
                "Conflicting key/value dtypes int64->float with int64-int64 for table same");
  ExpectInvalid(Size(Table("HashTableV2", DType::kInt64, DType::kInt64, "e", shared)),
                "must be a HashTable");
  ASSERT_TRUE(state
                  ->FindOrMake<StateVariable>(
                      "", "v", [] { return std::make_shared<StateVariable>(DType::kFloat); })
                  .ok());
  ExpectInvalid(Size(Table("HashTableV2", DType::kInt64, DType::kInt64, "v")), "variable");
}

TEST_F(TablesTest, AnonymousTablesAreTheirHandles) {
  const AttrMap types = Types(DType::kInt64, DType::kInt64);
  const Expr m = Add("AnonymousMutableHashTable", {}, types);
  const NodeId insert = Insert(m, Longs({1}), Longs({2}));
  const Expr size = After({insert}, "LookupTableSizeV2", {m});
  Expect(size, "int64 [] {1}");
  Expect(Size(m), "int64 [] {0}");
  const Expr h = Add("AnonymousHashTable", {}, types);
  const Expr find =
      After({Initialize(h, Longs({1}), Longs({5}))}, "LookupTableFindV2", {h, Longs({1}), Long(0)});
  Expect(find, "int64 [1] {5}");
  AttrMap tensors = types;
  SetAttr(tensors, "value_shape", Shape{1});
  Expect(Size(Add("AnonymousMutableHashTableOfTensors", {}, tensors)), "int64 [] {0}");
  EXPECT_TRUE(state->Containers().empty());
}

TEST_F(TablesTest, HostileHandlesAreRefused) {
  const Expr h = Placeholder(DType::kResource);
  ExpectHostileHandlesAreRefused(
      h, {Find(h, Longs({1}), Long(1)), Size(h), Export(h, DType::kInt64, DType::kInt64)},
      {Insert(h, Longs({1}), Longs({1})), Initialize(h, Longs({1}), Longs({1})),
       Node("LookupTableRemoveV2", {h, Longs({1})}),
       Node("LookupTableImportV2", {h, Longs({1}), Longs({1})})});
}

TEST_F(TablesTest, ADestroyedTableIsGone) {
  const Expr m = Table("MutableHashTableV2", DType::kInt64, DType::kInt64);
  ExpectRuns(Insert(m, Longs({1}), Longs({2})));
  ExpectRuns(Node("DestroyResourceOp", {m}));
  Expect(Size(m), "int64 [] {0}");
}

// Steps that insert, find, remove and export at once: a value is a whole one or none.
TEST_F(TablesTest, ConcurrentStepsSeeWholeEntries) {
  constexpr int kThreads = 4, kSteps = 100, kKeys = 64;
  const Expr m = Table("MutableHashTableOfTensorsV2", DType::kInt64, DType::kInt64, "t",
                       {{"value_shape", Shape{4}}});
  const Expr keys = Placeholder(DType::kInt64, {kKeys});
  const Expr values = Placeholder(DType::kInt64, {kKeys, 4});
  const NodeId insert = Insert(m, keys, values);
  const NodeId remove = Node("LookupTableRemoveV2", {m, keys});
  const Expr find = Find(m, keys, Longs({-1, -1, -1, -1}));
  const Expr all = Export(m, DType::kInt64, DType::kInt64);
  Tensor key_values(DType::kInt64, {kKeys});
  for (int64_t i = 0; i < kKeys; ++i) key_values.mutable_data<int64_t>()[i] = i;
  std::ignore = Run({});  // makes the session
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Tensor mine(DType::kInt64, {kKeys, 4});
      std::fill_n(mine.mutable_data<int64_t>(), kKeys * 4, t);
      const auto check = [&](const Tensor& rows) {
        for (int64_t r = 0; r < rows.shape().dim(0); ++r) {
          const int64_t* row = rows.data<int64_t>() + r * 4;
          ASSERT_TRUE(row[0] == row[1] && row[1] == row[2] && row[2] == row[3]);
        }
      };
      for (int i = 0; i < kSteps; ++i) {
        ASSERT_TRUE(Run({}, {insert}, {{keys, key_values}, {values, mine}}).ok());
        const auto found = Run({find}, {}, {{keys, key_values}});
        ASSERT_TRUE(found.ok());
        check((*found)[0]);
        if (i % 10 == t) {
          ASSERT_TRUE(Run({}, {remove}, {{keys, key_values}}).ok());
        }
        const auto exported = Run({all, all.Output(1)});
        ASSERT_TRUE(exported.ok());
        ASSERT_EQ((*exported)[0].shape().dim(0), (*exported)[1].shape().dim(0));
        check((*exported)[1]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace penstock::ops
