#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets graph_def_fuzz, tensor_proto_fuzz, bundle_fuzz and example_fuzz into the folders beside this script.

  make_seeds.py      needs protoc; run it from anywhere, and commit what it wrote
"""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def encode(message, text):
    """The bytes of a message of penstock.tf given as text."""
    proto = {"GraphDef": "graph", "TensorProto": "tensor"}.get(message, "tensor_bundle")
    command = ["protoc", f"-I{ROOT}", f"--encode=penstock.tf.{message}", f"{ROOT}/penstock/proto/{proto}.proto"]
    return subprocess.run(command, input=text.encode("latin-1"), stdout=subprocess.PIPE, check=True).stdout


def attr(name, value):
    return f'attr {{ key: "{name}" value {{ {value} }} }} '


def node(name, op, inputs="", *attrs):
    lines = "".join(f'input: "{i}" ' for i in inputs.split())
    return f'node {{ name: "{name}" op: "{op}" {lines}{"".join(attrs)}}}\n'


def shape(*dims):
    return "".join(f"dim {{ size: {d} }} " for d in dims)


def const(name, dtype, dims, values):
    tensor = f"tensor {{ dtype: {dtype} tensor_shape {{ {shape(*dims)} }} {values} }}"
    return node(name, "Const", "", attr("dtype", f"type: {dtype}"), attr("value", tensor))


def placeholder(name, dtype, *dims):
    return node(name, "Placeholder", "", attr("dtype", f"type: {dtype}"), attr("shape", f"shape {{ {shape(*dims)} }}"))


FLOAT = attr("T", "type: DT_FLOAT")
X = placeholder("x", "DT_FLOAT", 4, -1)
W = const("w", "DT_FLOAT", [2, 3], "float_val: [1, 2, 3, 4, 5, 6]")
AXIS = const("axis", "DT_INT32", [], "int_val: 1")
AXES = const("axes", "DT_INT32", [2], "int_val: [0, 1]")

GRAPHS = {
    "empty": "",
    "versions": "versions { producer: 2474 min_consumer: 12 bad_consumers: [3, 4] } library { }",
    "too_new": "versions { min_consumer: 99999 }",
    "one": X,
    "binary": X + W + "".join(node(op.lower(), op, "x x", FLOAT) for op in
                              ["Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "Less", "Equal"]),
    "unary": X + "".join(node(op.lower(), op, "x", FLOAT) for op in
                         ["Neg", "Exp", "Log", "Sqrt", "Tanh", "Sigmoid", "Relu", "Identity", "Shape", "Rank", "Size"]),
    "matmul": X + W + node("y", "MatMul", "x w", FLOAT, attr("transpose_a", "b: true"), attr("transpose_b", "b: true")),
    "broadcast_error": placeholder("a", "DT_FLOAT", 3) + placeholder("b", "DT_FLOAT", 4) + node("c", "Add", "a b", FLOAT),
    "reduce": X + AXES + "".join(node(op.lower(), op, "x axes", FLOAT, attr("keep_dims", "b: true"),
                                      attr("Tidx", "type: DT_INT32")) for op in ["Sum", "Mean", "Prod", "Max", "Min"]),
    "argmax": X + AXIS + node("y", "ArgMax", "x axis", FLOAT),
    "reshape": X + const("s", "DT_INT64", [2], "int64_val: [-1, 2]") + node("y", "Reshape", "x s", FLOAT),
    "reshape_huge": X + const("s", "DT_INT64", [2], "int64_val: [4611686018427387904, 4]") + node("y", "Reshape", "x s", FLOAT),
    "dynamic_reshape": X + node("s", "Shape", "x", FLOAT) + node("y", "Reshape", "x s", FLOAT),
    "expand_squeeze": X + AXIS + node("y", "ExpandDims", "x axis", FLOAT) +
                      node("z", "Squeeze", "y", FLOAT, attr("squeeze_dims", "list { i: 1 }")),
    "transpose": X + AXES + node("y", "Transpose", "x axes", FLOAT),
    "concat": X + AXIS + node("y", "ConcatV2", "x x axis", FLOAT, attr("N", "i: 2")),
    "pack": X + node("y", "Pack", "x x", FLOAT, attr("N", "i: 2"), attr("axis", "i: -1")) +
            node("z", "Unpack", "y", FLOAT, attr("num", "i: 2"), attr("axis", "i: -1")),
    "split": X + AXIS + node("y", "Split", "axis x", FLOAT, attr("num_split", "i: 2")) + node("z", "Add", "y y:1", FLOAT),
    "split_many": X + AXIS + node("y", "Split", "axis x", FLOAT, attr("num_split", "i: 4000000")),
    "slice": W + AXES + node("y", "Slice", "w axes axes", FLOAT),
    "strided_slice": W + AXES + const("one", "DT_INT32", [2], "int_val: [1, -1]") +
                     node("y", "StridedSlice", "w axes one one", FLOAT, attr("begin_mask", "i: 1"), attr("end_mask", "i: 3"),
                          attr("shrink_axis_mask", "i: 2"), attr("new_axis_mask", "i: 4"), attr("ellipsis_mask", "i: 0")),
    "gather": W + AXES + AXIS + node("y", "GatherV2", "w axes axis", attr("Tparams", "type: DT_FLOAT")),
    "tile_pad": W + AXES + node("y", "Tile", "w axes", FLOAT) + const("p", "DT_INT32", [2, 2], "int_val: [0, 1, 2, 3]") +
                node("z", "Pad", "w p", FLOAT),
    "fill_range": AXES + const("v", "DT_FLOAT", [], "float_val: 1") + node("y", "Fill", "axes v", FLOAT) +
                  node("z", "Range", "axis axis axis") + AXIS,
    "cast": X + node("y", "Cast", "x", attr("SrcT", "type: DT_FLOAT"), attr("DstT", "type: DT_INT8")),
    "select": X + placeholder("c", "DT_BOOL", -1, 2) + node("y", "SelectV2", "c x x", FLOAT),
    "one_hot": AXES + const("on", "DT_FLOAT", [], "") + node("y", "OneHot", "axes axis on on", FLOAT, attr("axis", "i: -1")) + AXIS,
    "strings": const("s", "DT_STRING", [3], 'string_val: ["a", ""]') + node("t", "Identity", "s", attr("T", "type: DT_STRING")),
    "types": "".join(const(f"c{i}", t, [2], "") for i, t in enumerate(
        "DT_FLOAT DT_DOUBLE DT_INT32 DT_UINT8 DT_INT16 DT_INT8 DT_STRING DT_COMPLEX64 DT_INT64 DT_BOOL DT_QINT8 DT_QUINT8 "
        "DT_QINT32 DT_BFLOAT16 DT_QINT16 DT_QUINT16 DT_UINT16 DT_COMPLEX128 DT_HALF DT_UINT32 DT_UINT64".split())),
    "variant": const("v", "DT_VARIANT", [], 'variant_val { type_name: "x" }'),
    "expand": const("c", "DT_FLOAT", [1000], "float_val: 1"),
    "expand_huge": const("c", "DT_FLOAT", [1 << 40], "float_val: 1"),
    "variable": node("v", "VariableV2", "", attr("dtype", "type: DT_FLOAT"), attr("shape", f"shape {{ {shape(2, 3)} }}")) + W +
                node("a", "Assign", "v w", FLOAT, attr("use_locking", "b: false")) + node("r", "Identity", "v ^a", FLOAT),
    "resource": node("v", "VarHandleOp", "", attr("dtype", "type: DT_FLOAT"), attr("shape", f"shape {{ {shape(2, 3)} }}"),
                     attr("shared_name", 's: "v"')) + W +
                node("a", "AssignVariableOp", "v w", attr("dtype", "type: DT_FLOAT")) +
                node("r", "ReadVariableOp", "v ^a", attr("dtype", "type: DT_FLOAT")),
    "control": node("a", "NoOp") + node("b", "NoOp", "^a ^a") + node("c", "NoOp", "^b ^a"),
    "identity_n": X + AXIS + node("y", "IdentityN", "x axis", attr("T", "list { type: [DT_FLOAT, DT_INT32] }")),
    "assert": placeholder("c", "DT_BOOL") + X + node("a", "Assert", "c x", attr("T", "list { type: DT_FLOAT }")),
    "loop": const("zero", "DT_FLOAT", [], "") + node("enter", "Enter", "zero", FLOAT, attr("frame_name", 's: "f"')) +
            node("merge", "Merge", "enter next:0", FLOAT, attr("N", "i: 2")) + const("yes", "DT_BOOL", [], "bool_val: true") +
            node("cond", "LoopCond", "yes ^merge") + node("switch", "Switch", "merge cond", FLOAT) +
            node("exit", "Exit", "switch", FLOAT) + node("next", "NextIteration", "switch:1", FLOAT),
    "cycle": node("a", "Relu", "b", FLOAT) + node("b", "Relu", "a", FLOAT),
    "forward": node("b", "Relu", "x", FLOAT) + X,
    "duplicate": X + X,
    "dangling": node("u", "Relu", "zz", FLOAT),
    "unknown_op": node("u", "NoSuchOp"),
    "wrong_kind": X + node("y", "MatMul", "x x", FLOAT, attr("transpose_a", "i: 1")),
    "wrong_type": X + node("y", "Relu", "x", attr("T", "type: DT_INT32")),
    "functions": 'library { function { signature { name: "f" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" '
                 'type_attr: "T" } attr { name: "T" type: "type" } control_output: "c" } node_def { name: "n" op: "Relu" '
                 'input: "x" attr { key: "T" value { placeholder: "T" } } } ret { key: "y" value: "n:activations:0" } '
                 'control_ret { key: "c" value: "n" } attr { key: "_a" value { b: true } } arg_attr { key: 0 value { attr { '
                 'key: "_n" value { s: "x" } } } } } gradient { function_name: "f" gradient_func: "g" } '
                 'registered_gradients { gradient_func: "g" registered_op_type: "Relu" } }',
    "call": X + 'library { function { signature { name: "f" } } } ' +
            node("y", "PartitionedCall", "x", attr("Tin", "list { type: DT_FLOAT }"), attr("Tout", "list { type: DT_FLOAT }"),
                 attr("f", 'func { name: "f" attr { key: "a" value { list { func { name: "g" } } } } }')),
    "attributes": node("n", "NoOp", "", attr("_s", 's: "x"'), attr("_l", "list { }"), attr("_f", "list { f: [1, nan] }"),
                       attr("_t", "type: DT_FLOAT_REF"), attr("_p", 'placeholder: "p"'), attr("_m", "list { i: 1 b: true }"),
                       attr("_shape", 'shape { dim { size: 3 name: "rows" } }'), attr("_none", "")),
    "debug": 'node { name: "n" op: "NoOp" device: "/cpu:0" experimental_debug_info { original_node_names: "o" } '
             'experimental_type { type_id: TFT_TENSOR args { type_id: TFT_FLOAT } } } debug_info { files: "f.py" }',
}

VECTOR = f"tensor_shape {{ {shape(3)} }} "
TENSORS = {
    "empty": "",
    "scalar": "dtype: DT_FLOAT float_val: 1.5",
    "repeat": "dtype: DT_FLOAT float_val: [1, 2] " + VECTOR,
    "zeros": "dtype: DT_DOUBLE " + VECTOR,
    "none": f"dtype: DT_FLOAT tensor_shape {{ {shape(0)} }} float_val: 1",
    "int8": "dtype: DT_INT8 int_val: [-1, 300, 7] " + VECTOR,
    "half": "dtype: DT_HALF half_val: [15360, -1] " + VECTOR,
    "bfloat16": "dtype: DT_BFLOAT16 half_val: 16256",
    "complex64": "dtype: DT_COMPLEX64 scomplex_val: [1, 2, 3, 4] " + VECTOR,
    "complex128_odd": "dtype: DT_COMPLEX128 dcomplex_val: [1, 2, 3] " + VECTOR,
    "bool": "dtype: DT_BOOL bool_val: [true, false] " + VECTOR,
    "bool_content": 'dtype: DT_BOOL tensor_content: "\\001\\377\\000" ' + VECTOR,
    "int64": "dtype: DT_INT64 int64_val: [-1, 9223372036854775807] " + VECTOR,
    "uint64": "dtype: DT_UINT64 uint64_val: 18446744073709551615",
    "uint32": "dtype: DT_UINT32 uint32_val: 4294967295",
    "quantised": "dtype: DT_QUINT8 int_val: 255 " + VECTOR,
    "strings": 'dtype: DT_STRING string_val: ["a", "", "\\377"] ' + VECTOR,
    "string_content": 'dtype: DT_STRING tensor_content: "\\002\\000\\001abc" ' + VECTOR,
    "string_length": 'dtype: DT_STRING tensor_content: "\\377\\377\\377\\377\\377\\377\\377\\377\\377\\001\\000\\000" ' + VECTOR,
    "string_varint": 'dtype: DT_STRING tensor_content: "\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377" ' + VECTOR,
    "content": 'dtype: DT_INT16 tensor_content: "\\001\\000\\377\\377\\000\\200" ' + VECTOR,
    "content_short": 'dtype: DT_INT32 tensor_content: "abc" ' + VECTOR,
    "too_many": "dtype: DT_INT32 int_val: [1, 2]",
    "huge": f"dtype: DT_FLOAT tensor_shape {{ {shape(1 << 40)} }} float_val: 1",
    "overflow": f"dtype: DT_FLOAT tensor_shape {{ {shape(1 << 62, 4)} }}",
    "overflow_hidden": f"dtype: DT_FLOAT tensor_shape {{ {shape(0, 1 << 62, 4)} }}",
    "unknown_dim": f"dtype: DT_FLOAT tensor_shape {{ {shape(-1)} }}",
    "unknown_rank": "dtype: DT_FLOAT tensor_shape { unknown_rank: true }",
    "rank": f"dtype: DT_FLOAT tensor_shape {{ {shape(*[1] * 254)} }}",
    "rank_too_high": f"dtype: DT_FLOAT tensor_shape {{ {shape(*[1] * 255)} }}",
    "resource": 'dtype: DT_RESOURCE resource_handle_val { device: "d" container: "c" name: "n" hash_code: 5 maybe_type_name: "t" '
                f'dtypes_and_shapes {{ dtype: DT_FLOAT shape {{ {shape(2, -1)} }} }} }}',
    "variant": 'dtype: DT_VARIANT variant_val { type_name: "x" tensors { dtype: DT_FLOAT } }',
    "float8": 'dtype: DT_FLOAT8_E5M2 float8_val: "a"',
    "reference": "dtype: DT_FLOAT_REF float_val: 1",
}


def counted(data):
    return bytes([len(data)]) + data


def bundle(entries, data, header="num_shards: 1 version { producer: 1 }"):
    """A checkpoint as bundle_fuzz reads it: the entries of its index, then its data file."""
    table = counted(encode("BundleHeaderProto", header))
    for name in sorted(entries):
        table += counted(name) + counted(encode("BundleEntryProto", entries[name]))
    return b"\1" + table + b"\0" + data


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def bundles():
    number = f"dtype: DT_INT64 shape {{ }} size: 8 crc32c: {masked_crc32c(bytes(8))} "
    halves = "dtype: DT_UINT8 shape { dim { size: 2 } } " + "".join(
        f"slices {{ extent {{ start: {i} length: 1 }} }} " for i in (0, 1))
    part = "dtype: DT_UINT8 shape { dim { size: 1 } } size: 1 "
    lengths = bytes([1, 0, 0, 0, 2, 0, 0, 0])
    lengths_crc = masked_crc32c(lengths).to_bytes(4, "little")
    strings_crc = masked_crc32c(lengths + lengths_crc + b"abc")
    return {
        "empty": bundle({}, b""),
        "number": bundle({b"n": number}, bytes(8)),
        "no_data": bundle({b"n": number}, b""),
        "strings": bundle({b"s": "dtype: DT_STRING shape { dim { size: 2 } } size: 9 "
                           f"crc32c: {strings_crc}"}, b"\1\2" + lengths_crc + b"abc"),
        "parts": bundle({b"p": halves, 
                         b"\0p\0\1\1\1\x80\x81": part + f"crc32c: {masked_crc32c(b'a')}",
                         b"\0p\0\1\1\1\x81\x81": part + f"offset: 1 crc32c: {masked_crc32c(b'b')}"}, b"ab"),
        "parts_missing": bundle({b"p": halves}, b"ab"),
        "huge": bundle({b"h": f"dtype: DT_DOUBLE shape {{ {shape(2**40, 2**20)} }} size: {2**62}"}, b""),
        "negative": bundle({b"h": f"dtype: DT_DOUBLE shape {{ {shape(-1)} }} size: -8 offset: -8"}, b""),
        "many_files": bundle({}, b"", "num_shards: 2000000000"),
        "no_table": b"\0",
    }


def field(number, data):
    """A field of bytes, shorter than 128."""
    return bytes([number << 3 | 2, len(data)]) + data


def entry(name, message):
    return field(1, field(1, name) + field(2, message))


def examples():
    floats = field(2, field(1, b"\0\0\x80\x3f\0\0\0\x40"))
    loose_floats = field(2, b"\x0d\0\0\x80\x3f")
    integers = field(3, field(1, b"\x01\xff\x01"))
    loose_integers = field(3, b"\x08\x07\x08\x96\x01")
    strings = field(1, field(1, b"x") + field(1, b""))
    every = entry(b"f", floats) + entry(b"g", loose_floats) + entry(b"i", integers)
    every += entry(b"j", loose_integers) + entry(b"s", strings) + entry(b"none", b"")
    lists = entry(b"l", field(1, floats) + field(1, b"") + field(1, floats))
    return {
        "empty": b"",
        "one": field(1, entry(b"a", floats)),
        "every": field(1, every),
        "twice": field(1, entry(b"a", floats) + entry(b"a", integers)),
        "sequence": field(1, entry(b"c", integers)) + field(2, lists),
        "cut": field(1, every)[:-3],
        "odd_floats": field(1, entry(b"a", field(2, field(1, b"\0\0\x80")))),
        "open_varint": field(1, entry(b"a", field(3, field(1, b"\x80\x80")))),
        "too_long": b"\x0a\xff\xff\xff\xff\x7f",
    }


def write(folder, message, texts):
    out = HERE / folder
    out.mkdir(exist_ok=True)
    for name, text in texts.items():
        (out / name).write_bytes(encode(message, text))
    print(f"{folder}: {len(texts)} seeds")


def main():
    write("graph_def_fuzz", "GraphDef", GRAPHS)
    write("tensor_proto_fuzz", "TensorProto", TENSORS)
    for folder, seeds in ("bundle_fuzz", bundles()), ("example_fuzz", examples()):
        (HERE / folder).mkdir(exist_ok=True)
        for name, seed in seeds.items():
            (HERE / folder / name).write_bytes(seed)
    # Not messages at all.
    whole = (HERE / "graph_def_fuzz" / "loop").read_bytes()
    (HERE / "graph_def_fuzz" / "cut").write_bytes(whole[:-7])
    (HERE / "graph_def_fuzz" / "deep").write_bytes(b"\x13" * 200)
    (HERE / "tensor_proto_fuzz" / "cut").write_bytes(b"\x08\x01\x12\xff")


if __name__ == "__main__":
    main()
