#include "penstock/train/save/save_model.h"

#include <algorithm>

#include "penstock/graph/graph_def.h"
#include "penstock/io/bundle.h"
#include "penstock/io/file_tree.h"
#include "penstock/io/saved_model.h"
#include "penstock/io/saved_model_writer.h"
#include "penstock/train/save/variable_values.h"

namespace penstock {
namespace {

// The nodes that the outputs need, and the inputs, which need nothing: they are fed.
std::vector<bool> Needed(const Graph& graph, const std::vector<ModelArgument>& inputs,
                         const std::vector<ModelArgument>& outputs) {
  std::vector<bool> needed(static_cast<size_t>(graph.num_nodes()));
  std::vector<NodeId> left;
  const auto visit = [&](NodeId node) {
    if (needed[static_cast<size_t>(node)]) return;
    needed[static_cast<size_t>(node)] = true;
    left.push_back(node);
  };
  for (const ModelArgument& argument : outputs) visit(argument.ref.node);
  for (const ModelArgument& argument : inputs) visit(argument.ref.node);
  while (!left.empty()) {
    const Node& node = graph.node(left.back());
    left.pop_back();
    for (const OutputRef input : node.inputs) visit(input.node);
    for (const NodeId input : node.control_inputs) visit(input);
  }
  return needed;
}

// A copy of those nodes alone. Ids stay.
Graph Pruned(const Graph& graph, const std::vector<bool>& needed) {
  Graph pruned = graph.Clone();
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id)) continue;
    if (!needed[static_cast<size_t>(id)]) {
      pruned.RemoveNode(id);
      continue;
    }
    // A model is placed anew; and what a node stood beside may be gone.
    std::erase_if(pruned.node(id).attrs, [](const auto& attr) { return attr.first == "_class"; });
  }
  return pruned;
}

io::ModelTensor Described(const Graph& graph, OutputRef ref) {
  return {graph.node(ref.node).name + ":" + std::to_string(ref.port), graph.output(ref).dtype,
          graph.output(ref).shape};
}

std::map<std::string, io::ModelTensor> Arguments(const Graph& graph,
                                                 const std::vector<ModelArgument>& arguments) {
  std::map<std::string, io::ModelTensor> tensors;
  for (const ModelArgument& argument : arguments) {
    if (!graph.IsLive(argument.ref.node))
      throw Error(InvalidArgument("'{}' is not of the graph", Printable(argument.name)));
    if (!tensors.emplace(argument.name, Described(graph, argument.ref)).second)
      throw Error(InvalidArgument("two arguments have the name '{}'", Printable(argument.name)));
  }
  return tensors;
}

// Adds the nodes by which a loader restores the variables, as TensorFlow's Saver does.
class SaverNodes {
 public:
  SaverNodes(Graph& graph, const std::vector<Parameter>& variables)
      : graph_(graph), variables_(variables) {
    for (const Parameter& variable : variables) {
      names_.push_back(variable.name);
      dtypes_.push_back(variable.dtype);
    }
  }

  void AddTo(io::ModelToWrite* model) {
    const OutputRef prefix = Add({.op = "PlaceholderWithDefault",
                                  .name = "save/Const",
                                  .inputs = {Strings("save/filename", Shape(), {"model"})},
                                  .attrs = {{"shape", Shape()}}});
    const Shape count{static_cast<int64_t>(names_.size())};
    const OutputRef names = Strings("save/tensor_names", count, names_);
    const OutputRef slices =
        Strings("save/shape_and_slices", count, std::vector<std::string>(names_.size()));
    const OutputRef restored = Add({.op = "RestoreV2",
                                    .name = "save/RestoreV2",
                                    .inputs = {prefix, names, slices},
                                    .attrs = {{"dtypes", dtypes_}}});
    NodeSpec save{.op = "SaveV2", .name = "save/SaveV2", .inputs = {prefix, names, slices}};
    NodeSpec all{.op = "NoOp", .name = "save/restore_all"};
    for (size_t i = 0; i < variables_.size(); ++i) {
      const OutputRef handle = {variables_[i].handle, 0};
      const OutputRef read = Add({.op = "ReadVariableOp",
                                  .name = "save/" + names_[i] + "/Read",
                                  .inputs = {handle},
                                  .attrs = {{"dtype", dtypes_[i]}}});
      save.inputs.push_back(read);
      const OutputRef value = {restored.node, static_cast<int32_t>(i)};
      const NodeId assign = Add({.op = "AssignVariableOp",
                                 .name = "save/" + names_[i] + "/Assign",
                                 .inputs = {handle, value}})
                                .node;
      all.control_inputs.push_back(assign);
      model->variables.push_back(
          {NameOf(handle), graph_.node(assign).name, NameOf(value), NameOf(read), true});
    }
    const OutputRef saved = Add(std::move(save));
    model->save_tensor = NameOf(Add({.op = "Identity",
                                     .name = "save/control_dependency",
                                     .inputs = {prefix},
                                     .control_inputs = {saved.node}}));
    model->filename_tensor = NameOf(prefix);
    model->restore_op = graph_.node(Add(std::move(all)).node).name;
  }

 private:
  OutputRef Add(NodeSpec spec) { return {OrThrow(graph_.AddNode(std::move(spec))), 0}; }
  OutputRef Strings(const char* name, const Shape& shape, const std::vector<std::string>& values) {
    return Add({.op = "Const",
                .name = name,
                .attrs = {{"dtype", DType::kString},
                          {"value", Tensor::FromValues<std::string>(shape, values)}}});
  }
  std::string NameOf(OutputRef ref) const {
    return graph_.node(ref.node).name + ":" + std::to_string(ref.port);
  }

  Graph& graph_;
  const std::vector<Parameter>& variables_;
  std::vector<std::string> names_;
  std::vector<DType> dtypes_;
};

void WriteVariables(const std::string& folder, const VariableValues& values, Session& session) {
  io::BundleWriter writer = OrThrow(io::BundleWriter::Open(io::VariablesPrefix(folder)));
  std::vector<Tensor> tensors = values.Read(session);
  for (size_t i = 0; i < tensors.size(); ++i)
    OrThrow(writer.Add(values.variables()[i].name, tensors[i]));
  OrThrow(writer.Finish());
}

}  // namespace

void SaveModel(Graph& graph, Session& session, const std::string& folder,
               const std::vector<ModelArgument>& inputs, const std::vector<ModelArgument>& outputs,
               const std::string& signature) {
  if (outputs.empty()) throw Error(InvalidArgument("a model needs an output"));
  io::ModelToWrite model;
  model.signatures[signature] = {Arguments(graph, inputs), Arguments(graph, outputs)};
  if (io::FileExists(folder + "/saved_model.pb"))
    throw Error(AlreadyExists("{}: there is a model already", Printable(folder)));
  const std::vector<bool> needed = Needed(graph, inputs, outputs);
  Graph pruned = Pruned(graph, needed);
  std::vector<Parameter> variables;
  for (NodeId id = 0; id < pruned.num_nodes(); ++id) {
    if (!pruned.IsLive(id)) continue;
    const std::string& op = pruned.node(id).op_name();
    if (op == "VarHandleOp") variables.push_back(ParameterOf(pruned, id));
    if (op == "VariableV2" || op == "Variable")
      throw Error(Unimplemented("variable {} is a reference; a model is saved with resources",
                                pruned.Describe(id)));
  }
  OrThrow(io::MakeFolders(folder));
  if (!variables.empty()) {
    WriteVariables(folder, VariableValues(graph, variables), session);
    SaverNodes(pruned, variables).AddTo(&model);
  }
  model.graph_def = OrThrow(SerializeGraphDef(pruned));
  OrThrow(io::WriteSavedModel(folder, model));
}

}  // namespace penstock
