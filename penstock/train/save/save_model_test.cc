#include "penstock/train/save/save_model.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "penstock/client/operators.h"
#include "penstock/client/ops.h"
#include "penstock/client/saved_model.h"
#include "penstock/client/variable.h"
#include "penstock/io/table.h"
#include "penstock/train/save/saver.h"
#include "penstock/train/save/tensor_files.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

class SaveModelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::BuildTable({}).ok()) GTEST_SKIP() << "built without LevelDB";
    std::string pattern = (fs::temp_directory_path() / "save_model_test_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  static Code CodeOf(const std::function<void()>& call) {
    try {
      call();
      return Code::kOk;
    } catch (const Error& error) {
      return error.code();
    }
  }

  fs::path folder_;
};

// y = Relu(x w + b), with a training step that a model does not need.
struct Net {
  Graph g;
  Output<float> x = Placeholder<float>(g, {-1, 2});
  Variable<float> w{g, Array<float>(Shape{2, 2}, {1, 2, 3, 4}), "net/w"};
  Variable<float> b{g, Array<float>(std::vector<float>{-5, 1}), "net/b"};
  Variable<float> slot{g, Array<float>(std::vector<float>{9}), "net/w/Adam"};
  Output<float> y = Relu(MatMul(x, w.Read()) + b.Read());
  Operation step = w.AssignAdd(Constant<float>(g, Shape{2, 2}, 1.f));
  Operation init = InitVariables(g);
};

TEST_F(SaveModelTest, IsLoadedAndCalled) {
  Net net;
  Session session(net.g);
  session.Run(net.init);
  session.Run(net.step);
  SaveModel(net.g, session, At("1"), {{"x", net.x}}, {{"y", net.y}});
  SavedModel model(At("1"));
  const Tensor x = Tensor::FromValues<float>(Shape{1, 2}, {1, 1});
  // [1, 1] [[2, 3], [4, 5]] + [-5, 1]
  EXPECT_EQ(model.Call({{"x", x}}).at("y").ToString(), "float [1,2] {1, 9}");
  EXPECT_EQ(model.graph().FindNode("net/w/Adam"), kNoNode);
  EXPECT_EQ(CodeOf([&] {
              SaveModel(net.g, session, At("1"), {{"x", net.x}}, {{"y", net.y}});
            }),
            Code::kAlreadyExists);
  EXPECT_EQ(CodeOf([&] { SaveModel(net.g, session, At("2"), {}, {}); }), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] {
              SaveModel(net.g, session, At("2"), {{"x", net.x}}, {{"y", net.y}, {"y", net.y}});
            }),
            Code::kInvalidArgument);
  Session empty(net.g);
  EXPECT_EQ(CodeOf([&] {
              SaveModel(net.g, empty, At("2"), {{"x", net.x}}, {{"y", net.y}});
            }),
            Code::kFailedPrecondition);
  EXPECT_FALSE(fs::exists(At("2/saved_model.pb")));
  // Without variables.
  SaveModel(net.g, session, At("3"), {{"x", net.x}}, {{"y", Relu(net.x)}});
  EXPECT_EQ(SavedModel(At("3")).Call({{"x", x}}).at("y").ToString(), "float [1,2] {1, 1}");
}

TEST_F(SaveModelTest, TensorsInOtherFormats) {
  Net net;
  Session session(net.g);
  session.Run(net.init);
  SaveSafetensors(net.g, session, At("m.safetensors"), {{"format", "pt"}});
  SaveNpz(net.g, session, At("m.npz"));
  EXPECT_EQ(ReadSafetensors(At("m.safetensors")).at("net/b").ToString(), "float [2] {-5, 1}");
  EXPECT_EQ(ReadNpz(At("m.npz")).at("net/b").ToString(), "float [2] {-5, 1}");
  for (const bool npz : {false, true}) {
    session.Run(net.step);
    const RestoreReport report = npz ? LoadNpz(net.g, session, At("m.npz"))
                                     : LoadSafetensors(net.g, session, At("m.safetensors"));
    EXPECT_TRUE(report.complete()) << report.ToString();
    EXPECT_EQ(session.Run(net.w.Read())[0], 1);
  }
  TensorMap tensors = ReadNpz(At("m.npz"));
  tensors.erase("net/b");
  WriteNpz(At("less.npz"), tensors);
  WriteSafetensors(At("less.safetensors"), tensors);
  EXPECT_EQ(CodeOf([&] { LoadNpz(net.g, session, At("less.npz")); }), Code::kNotFound);
  EXPECT_EQ(LoadSafetensors(net.g, session, At("less.safetensors"), {.partial = true})
                .Count(Match::kMissing),
            1u);
  EXPECT_EQ(CodeOf([&] { LoadNpz(net.g, session, At("m.safetensors")); }), Code::kDataLoss);
  EXPECT_EQ(CodeOf([&] { LoadSafetensors(net.g, session, At("m.npz")); }), Code::kDataLoss);
  EXPECT_EQ(CodeOf([&] { LoadNpz(net.g, session, At("none")); }), Code::kNotFound);
  // A checkpoint was expected.
  Saver saver(net.g);
  EXPECT_EQ(CodeOf([&] { saver.Restore(session, At("m.npz")); }), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { saver.Restore(session, At("m.safetensors")); }), Code::kInvalidArgument);
}

// Files of TensorFlow and NumPy are read here, and ours there.
TEST_F(SaveModelTest, TensorFlowAgrees) {
  const char* python = std::getenv("PENSTOCK_TF_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "PENSTOCK_TF_PYTHON may name a Python with TensorFlow";
  Net net;
  Session session(net.g);
  session.Run(net.init);
  session.Run(net.step);
  Saver saver(net.g, {.max_shard_bytes = 10});
  saver.Save(session, At("run/m"), {.step = 1, .metric = 0.5});
  saver.Save(session, At("run/m"), {.step = 2, .metric = 0.25});
  saver.Save(session, At("run/m"), {.step = 2});  // replaces it
  SaveModel(net.g, session, At("model"), {{"x", net.x}}, {{"y", net.y}});
  SaveNpz(net.g, session, At("m.npz"));
  const std::string script = R"(
import os, sys, numpy as np
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import tensorflow as tf
at = sys.argv[1]
w = np.array([[2, 3], [4, 5]], np.float32)
latest = tf.train.latest_checkpoint(at + '/run')
assert latest == at + '/run/m-2', latest
assert len(tf.train.get_checkpoint_state(at + '/run').all_model_checkpoint_paths) == 2
for prefix in [at + '/run/m-1', latest]:
  assert (tf.train.load_variable(prefix, 'net/w') == w).all()
with np.load(at + '/m.npz') as z:
  assert (z['net/w'] == w).all() and z['net/b'].tolist() == [-5, 1]
np.savez_compressed(at + '/theirs.npz', **{'net/w': np.asfortranarray(w) * 2, 'net/b': np.array([1, 2], '>f4'),
                    'net/w/Adam': np.ones(1, np.float32)})
model = tf.saved_model.load(at + '/model')
y = model.signatures['serving_default'](x=tf.constant([[1., 1.]]))['y'].numpy()
assert y.tolist() == [[1, 9]], y
g = tf.compat.v1.Graph()
with tf.compat.v1.Session(graph=g) as s:
  meta = tf.compat.v1.saved_model.loader.load(s, ['serve'], at + '/model')
  sig = meta.signature_def['serving_default']
  y = s.run(sig.outputs['y'].name, {sig.inputs['x'].name: [[1., 1.]]})
  assert y.tolist() == [[1, 9]], y
class M(tf.Module):
  def __init__(self):
    self.w = tf.Variable(w * 3, name='net/w')
    self.b = tf.Variable([7., 8.], name='net/b')
    self.s = tf.Variable([6.], name='net/w/Adam')
tf.train.Checkpoint(model=M()).write(at + '/objects')
with tf.compat.v1.Graph().as_default(), tf.compat.v1.Session() as s:
  v = [tf.compat.v1.get_variable(n, initializer=tf.constant(x, tf.float32)) for n, x in
       [('net/w', w * 4), ('net/b', [3, 4]), ('net/w/Adam', [2])]]
  s.run(tf.compat.v1.global_variables_initializer())
  tf.compat.v1.train.Saver().save(s, at + '/theirs/m', 7)
)";
  {
    std::FILE* file = std::fopen(At("check.py").c_str(), "w");
    std::fputs(script.c_str(), file);
    std::fclose(file);
  }
  const std::string command = std::string(python) + " " + At("check.py") + " " + folder_.string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto w = [&] { return session.Run(net.w.Read()).ToVector(); };
  LoadNpz(net.g, session, At("theirs.npz"));
  EXPECT_EQ(w(), (std::vector<float>{4, 6, 8, 10}));
  EXPECT_EQ(session.Run(net.b.Read())[1], 2);
  const RestoreReport objects = saver.Restore(session, At("objects"));
  EXPECT_EQ(w(), (std::vector<float>{6, 9, 12, 15})) << objects.ToString();
  EXPECT_EQ(saver.RestoreLatest(session, At("theirs")).checkpoint, At("theirs/m-7"));
  EXPECT_EQ(w(), (std::vector<float>{8, 12, 16, 20}));
  // Goes on where TensorFlow was.
  saver.Save(session, At("theirs/m"), {.step = 8});
  EXPECT_EQ(CheckpointsIn(At("theirs")),
            (std::vector<std::string>{At("theirs/m-8"), At("theirs/m-7")}));
}

}  // namespace
}  // namespace penstock
