#include "tests/conformance/curve_data.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include "penstock/io/compression.h"

namespace penstock::conformance {
namespace {

// The bytes of `path` or of `path`.gz.
Result<std::string> ReadBytes(const std::string& path) {
  constexpr size_t kMostBytes = 1 << 30;
  const bool plain = !path.ends_with(".gz") && std::filesystem::exists(path);
  const std::string name = plain || path.ends_with(".gz") ? path : path + ".gz";
  TRY_ASSIGN(io::InputStream stream,
             io::InputStream::Open(name, plain ? io::Compression::kNone : io::Compression::kGzip));
  std::string bytes;
  TRY(stream.Read(kMostBytes, &bytes));
  return bytes;
}

// An IDX file: 0, 0, 8 (bytes), the rank, the extents as big-endian 32-bit numbers, the elements.
struct Idx {
  std::string bytes;
  size_t first = 0;    // of the elements
  int64_t count = 0;   // examples
  int64_t stride = 1;  // elements of one

  const unsigned char* At(int64_t example) const {
    return reinterpret_cast<const unsigned char*>(bytes.data()) + first + example * stride;
  }
};

Result<Idx> ReadIdx(const std::string& path) {
  Idx idx;
  TRY_ASSIGN(idx.bytes, ReadBytes(path));
  const auto* b = reinterpret_cast<const unsigned char*>(idx.bytes.data());
  const size_t size = idx.bytes.size();
  if (size < 4 || b[0] != 0 || b[1] != 0 || b[2] != 8 || b[3] == 0 || size < 4 + 4u * b[3])
    return DataLoss("{} is no IDX file of bytes", path);
  idx.first = 4 + 4u * b[3];
  for (int i = 0; i < b[3]; ++i) {
    const unsigned char* e = b + 4 + 4 * i;
    const int64_t extent = int64_t{e[0]} << 24 | e[1] << 16 | e[2] << 8 | e[3];
    if (i == 0) idx.count = extent;
    if (i > 0) idx.stride *= extent;
    if (idx.stride > INT32_MAX) return DataLoss("{} tells of too large examples", path);
  }
  if (static_cast<uint64_t>(idx.count) * static_cast<uint64_t>(idx.stride) > size - idx.first ||
      idx.count == 0)
    return DataLoss("{} is cut: {} bytes for {} examples of {}", path, size, idx.count, idx.stride);
  return idx;
}

// A node that is fed, by the name of its output.
struct Fed {
  std::string name;
  OutputInfo info;
};

Result<Fed> FindFed(const Graph& graph, std::string name) {
  if (name.find(':') == std::string::npos) name += ":0";
  TRY_ASSIGN(const OutputRef ref, graph.FindOutput(name));
  return Fed{name, graph.output(ref)};
}

template <class T>
void Store(Tensor& tensor, int64_t i, double value) {
  tensor.mutable_data<T>()[i] = static_cast<T>(value);
}

Status StoreNumber(Tensor& tensor, int64_t i, double value) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return Store<float>(tensor, i, value), OkStatus();
    case DType::kDouble:
      return Store<double>(tensor, i, value), OkStatus();
    case DType::kInt32:
      return Store<int32_t>(tensor, i, value), OkStatus();
    case DType::kInt64:
      return Store<int64_t>(tensor, i, value), OkStatus();
    case DType::kUint8:
      return Store<uint8_t>(tensor, i, value), OkStatus();
    default:
      return Unimplemented("feeding {}", tensor.dtype());
  }
}

// A tensor for `batch` examples of `stride` elements, in the shape that the node wants.
Result<Tensor> MakeBatch(const Fed& fed, int64_t batch, int64_t stride) {
  std::vector<int64_t> dims = {batch};
  if (fed.info.shape.has_rank()) {
    dims.assign(fed.info.shape.dims().begin(), fed.info.shape.dims().end());
    if (!dims.empty()) dims[0] = batch;
  } else if (stride > 1) {
    dims.push_back(stride);
  }
  const Shape shape(dims);
  if (shape.CheckedNumElements() != batch * stride)
    return InvalidArgument("{} wants {}, the data has {} examples of {} numbers", fed.name,
                           fed.info.shape, batch, stride);
  return Tensor(fed.info.dtype, shape);
}

class Images : public CurveData {
 public:
  Images(Fed x, Fed y, int64_t batch, double scale)
      : x_(std::move(x)), y_(std::move(y)), batch_(batch), scale_(scale) {}

  Status Read(const std::string& folder) {
    const std::filesystem::path path(folder);
    TRY_ASSIGN(train_.images, ReadIdx(path / "train-images-idx3-ubyte"));
    TRY_ASSIGN(train_.labels, ReadIdx(path / "train-labels-idx1-ubyte"));
    TRY_ASSIGN(test_.images, ReadIdx(path / "t10k-images-idx3-ubyte"));
    TRY_ASSIGN(test_.labels, ReadIdx(path / "t10k-labels-idx1-ubyte"));
    for (const Part* part : {&train_, &test_}) {
      if (part->images.count != part->labels.count)
        return DataLoss("{}: {} images, {} labels", folder, part->images.count, part->labels.count);
    }
    return OkStatus();
  }

  Result<NamedTensors> Step(int64_t i) const override { return Cut(train_, i * batch_, batch_); }
  Result<NamedTensors> HeldOut(int64_t count) const override { return Cut(test_, 0, count); }

 private:
  struct Part {
    Idx images;
    Idx labels;
  };

  Result<NamedTensors> Cut(const Part& part, int64_t begin, int64_t count) const {
    const int64_t stride = part.images.stride;
    TRY_ASSIGN(Tensor x, MakeBatch(x_, count, stride));
    TRY_ASSIGN(Tensor y, MakeBatch(y_, count, 1));
    for (int64_t k = 0; k < count; ++k) {
      const int64_t example = (begin + k) % part.images.count;
      for (int64_t p = 0; p < stride; ++p) {
        // In float, as the recorded program divided.
        const float pixel = static_cast<float>(part.images.At(example)[p]);
        TRY(StoreNumber(x, k * stride + p, pixel / static_cast<float>(scale_)));
      }
      TRY(StoreNumber(y, k, *part.labels.At(example)));
    }
    return NamedTensors{{x_.name, std::move(x)}, {y_.name, std::move(y)}};
  }

  const Fed x_, y_;
  const int64_t batch_;
  const double scale_;
  Part train_, test_;
};

// `streams` equal parts of a text, read side by side: step i sees of each part a piece that begins
// at i * advance, from a different place for each fed node.
class Text : public CurveData {
 public:
  struct Piece {
    Fed fed;
    int64_t advance = 0;  // a step
    int64_t offset = 0;   // 1 for what comes next
    int64_t length = 0;
  };
  Text(std::string text, int64_t streams, std::vector<Piece> pieces)
      : text_(std::move(text)), streams_(streams), pieces_(std::move(pieces)) {}

  Result<NamedTensors> Step(int64_t i) const override {
    const int64_t part = static_cast<int64_t>(text_.size()) / streams_;
    NamedTensors out;
    for (const Piece& piece : pieces_) {
      const int64_t begin = piece.advance * i + piece.offset;
      if (begin + piece.length > part)
        return OutOfRange("step {} is past the end of a stream of {} bytes", i, part);
      TRY_ASSIGN(Tensor ids, MakeBatch(piece.fed, streams_, piece.length));
      for (int64_t k = 0; k < streams_; ++k) {
        for (int64_t t = 0; t < piece.length; ++t) {
          const auto byte = static_cast<unsigned char>(text_[k * part + begin + t]);
          TRY(StoreNumber(ids, k * piece.length + t, byte));
        }
      }
      out.emplace_back(piece.fed.name, std::move(ids));
    }
    return out;
  }

  Result<NamedTensors> HeldOut(int64_t) const override {
    return Unimplemented("a text with a held-out part");
  }

 private:
  const std::string text_;
  const int64_t streams_;
  const std::vector<Piece> pieces_;
};

Result<std::unique_ptr<CurveData>> ReadImages(const std::string& feeds, const std::string& path,
                                              const Graph& graph, int64_t batch) {
  static const std::regex scale_words(R"(\]\s*/\s*(\d+))"), name_words(R"(->\s*([\w/.]+:\d+))");
  std::smatch scale;
  const bool scaled = std::regex_search(feeds, scale, scale_words);
  std::vector<std::string> names;
  for (std::sregex_iterator at(feeds.begin(), feeds.end(), name_words), end; at != end; ++at)
    names.push_back((*at)[1]);
  if (names.size() != 2) return Unimplemented("feeding other than images and labels: {}", feeds);
  TRY_ASSIGN(Fed x, FindFed(graph, names[0]));
  TRY_ASSIGN(Fed y, FindFed(graph, names[1]));
  auto images = std::make_unique<Images>(std::move(x), std::move(y), batch,
                                         scaled ? std::stod(scale[1]) : 1.0);
  TRY(images->Read(path));
  return std::unique_ptr<CurveData>(std::move(images));
}

Result<std::unique_ptr<CurveData>> ReadText(const std::string& feeds, const std::string& path,
                                            const Graph& graph, int64_t streams) {
  static const std::regex piece_words(
      R"(([\w/.:]+)=text\[k\*seg\+(\d{1,9})i\s*(?:\+\s*(\d{1,9})\s*)?:\s*\+(\d{1,9})\])");
  std::vector<Text::Piece> pieces;
  for (std::sregex_iterator at(feeds.begin(), feeds.end(), piece_words), end; at != end; ++at) {
    const std::smatch& m = *at;
    TRY_ASSIGN(Fed fed, FindFed(graph, m[1]));
    pieces.push_back({.fed = std::move(fed),
                      .advance = std::stoll(m[2]),
                      .offset = m[3].matched ? std::stoll(m[3]) : 0,
                      .length = std::stoll(m[4])});
  }
  if (pieces.empty()) return Unimplemented("a text that is fed otherwise: {}", feeds);
  TRY_ASSIGN(std::string text, ReadBytes(path));
  return std::unique_ptr<CurveData>(
      std::make_unique<Text>(std::move(text), streams, std::move(pieces)));
}

}  // namespace

Result<std::unique_ptr<CurveData>> ReadCurveData(const std::string& feeds, const std::string& path,
                                                 const Graph& graph) {
  // At most nine digits: numbers that std::stoll takes.
  static const std::regex images(R"(images\[(\d{1,9})\s*\*?\s*i\s*:)"), text(R"(N=(\d{1,9})\b)");
  std::smatch found;
  if (std::regex_search(feeds, found, images) && std::stoll(found[1]) > 0)
    return ReadImages(feeds, path, graph, std::stoll(found[1]));
  if (std::regex_search(feeds, found, text) && std::stoll(found[1]) > 0)
    return ReadText(feeds, path, graph, std::stoll(found[1]));
  return Unimplemented("data described as: {}", feeds);
}

}  // namespace penstock::conformance
