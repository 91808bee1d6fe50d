#include "penstock/train/data/images.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "penstock/core/checked.h"
#include "penstock/io/file_tree.h"
#include "penstock/io/idx.h"
#include "penstock/io/open_any.h"
#include "penstock/train/data/csv.h"
#include "penstock/train/data/memory.h"

namespace penstock {
namespace {

using data::StagePtr;

// Images with a label each, and where the label of element i stands, for messages.
struct Labelled {
  Tensor images;  // uint8 [n, ...]
  std::vector<int32_t> labels;
  std::function<std::string(int64_t)> place;
};

Status CheckLabel(int32_t label, int64_t classes, const std::string& place) {
  if (InRange(label, classes)) return OkStatus();
  return OutOfRange("{}: a label must be in [0, {}), got {}", place, classes, label);
}

LabelledImages FromLabelled(Labelled set, const LabelOptions& options, const std::string& name) {
  const auto count = static_cast<int64_t>(set.labels.size());
  bool good = true;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t label = set.labels[static_cast<size_t>(i)];
    if (InRange(label, options.classes)) continue;
    good = false;
    if (options.on_bad == OnBadRecord::kFail)
      OrThrow(CheckLabel(label, options.classes, set.place(i)));
  }
  std::vector<data::MemoryField> fields = {{std::move(set.images), 1.0f / 255},
                                           {Tensor::FromValues<int32_t>(Shape{count}, set.labels)}};
  StagePtr stage = OrThrow(data::MakeMemory(std::move(fields), name));
  if (good) return LabelledImages(std::move(stage));
  auto check = [place = std::move(set.place), options](
                   data::Element* element, const data::ElementInfo& info) -> Result<bool> {
    const int32_t label = (*element)[1].scalar<int32_t>();
    const Status status = CheckLabel(label, options.classes, place(info.index));
    if (!status.ok()) TRY(data::BadRecord(options.on_bad, status, *info.counters));
    return status.ok();
  };
  return LabelledImages(OrThrow(data::MakeFunction(stage, {"labels", std::move(check), 1, true})));
}

// The file, or the same compressed.
std::string PlainOrGzip(const std::string& path) {
  return io::FileExists(path) || !io::FileExists(path + ".gz") ? path : path + ".gz";
}

LabelledImages MnistPart(const std::string& folder, const std::string& part) {
  return IdxImages(PlainOrGzip(folder + "/" + part + "-images-idx3-ubyte"),
                   PlainOrGzip(folder + "/" + part + "-labels-idx1-ubyte"));
}

LabelledImages AllDigits() {
  return Csv(FindDataset("optdigits/digits.csv.gz"), {}, Column<float>{.count = 64},
             Column<int32_t>{.index = 64, .limit = 10});
}

// Element i belongs to the test when i % 5 == 4. Pixels are 0 to 16.
LabelledImages DigitsPart(bool test) {
  std::vector<float> pixels;
  std::vector<int32_t> labels;
  int64_t number = 0;
  for (const auto& [image, label] : AllDigits()) {
    if ((number++ % 5 == 4) != test) continue;
    for (const float pixel : image) pixels.push_back(pixel / 16);
    labels.push_back(label);
  }
  const auto count = static_cast<int64_t>(labels.size());
  std::vector<data::MemoryField> fields = {{Tensor::FromValues<float>(Shape{count, 64}, pixels)},
                                           {Tensor::FromValues<int32_t>(Shape{count}, labels)}};
  return LabelledImages(
      OrThrow(data::MakeMemory(std::move(fields), test ? "digits test" : "digits train")));
}

}  // namespace

LabelledImages IdxImages(const std::string& images, const std::string& labels,
                         LabelOptions options) {
  Tensor pixels = OrThrow(io::ReadIdx(images));
  const Tensor numbers = OrThrow(io::ReadIdx(labels));
  if (pixels.dtype() != DType::kUint8 || pixels.shape().rank() != 3)
    throw Error(InvalidArgument("{}: expected images, uint8 of rank 3, got {} {}",
                                Printable(images), pixels.dtype(), pixels.shape()));
  if (numbers.dtype() != DType::kUint8 || numbers.shape().rank() != 1)
    throw Error(InvalidArgument("{}: expected labels, uint8 of rank 1, got {} {}",
                                Printable(labels), numbers.dtype(), numbers.shape()));
  if (pixels.shape().dim(0) != numbers.shape().dim(0))
    throw Error(InvalidArgument("{} has {} images, {} has {} labels", Printable(images),
                                pixels.shape().dim(0), Printable(labels), numbers.shape().dim(0)));
  constexpr int64_t kHeaderBytes = 8;
  Shape shape = pixels.shape();
  shape.Append(1);
  const uint8_t* values = numbers.data<uint8_t>();
  return FromLabelled(
      {pixels.Reshaped(shape), std::vector<int32_t>(values, values + numbers.num_elements()),
       [labels](int64_t i) {
         return Format("{}: offset {}", Printable(labels), kHeaderBytes + i);
       }},
      options, images);
}

LabelledImages CifarImages(const std::vector<std::string>& files, CifarOptions options) {
  // label:u8[label_bytes], the last one counts; red:u8[32 * 32] green blue.
  constexpr int64_t kPixels = 32 * 32, kChannels = 3;
  if (files.empty() || options.label_bytes < 1 || options.label_bytes > 2)
    throw Error(InvalidArgument("CIFAR: expected files, and labels of 1 or 2 bytes, got {} and {}",
                                files.size(), options.label_bytes));
  const int64_t record = options.label_bytes + kChannels * kPixels;
  std::string all;
  std::vector<std::pair<int64_t, std::string>> begins;  // the first element of each file
  for (const std::string& file : files) {
    begins.emplace_back(static_cast<int64_t>(all.size()) / record, file);
    io::InputStream stream = OrThrow(io::OpenAny(file));
    const size_t got = OrThrow(stream.Read(size_t{1} << 32, &all));
    const int64_t rest = static_cast<int64_t>(got) % record;
    if (rest == 0) continue;
    const Status cut = DataLoss("{}: the record at offset {} is cut: expected {} bytes, got {}",
                                Printable(file), static_cast<int64_t>(got) - rest, record, rest);
    data::Counters counters;
    OrThrow(data::BadRecord(options.labels.on_bad, cut, counters));
    all.resize(all.size() - static_cast<size_t>(rest));
  }
  const int64_t count = static_cast<int64_t>(all.size()) / record;
  Labelled set;
  set.images =
      OrThrow(Tensor::Make(HostAllocator(), DType::kUint8, Shape{count, 32, 32, kChannels}));
  uint8_t* to = set.images.mutable_data<uint8_t>();
  for (int64_t i = 0; i < count; ++i) {
    const auto* from = reinterpret_cast<const uint8_t*>(all.data()) + i * record;
    set.labels.push_back(from[options.label_bytes - 1]);
    from += options.label_bytes;
    for (int64_t p = 0; p < kPixels; ++p)
      for (int64_t c = 0; c < kChannels; ++c) *to++ = from[c * kPixels + p];
  }
  set.place = [begins, record](int64_t i) {
    size_t file = begins.size() - 1;
    while (begins[file].first > i) --file;
    return Format("{}: offset {}", Printable(begins[file].second),
                  (i - begins[file].first) * record);
  };
  return FromLabelled(std::move(set), options.labels, files[0]);
}

LabelledImages Digits::Train() { return DigitsPart(false); }
LabelledImages Digits::Test() { return DigitsPart(true); }

LabelledImages Mnist::Train() const { return MnistPart(folder, "train"); }
LabelledImages Mnist::Test() const { return MnistPart(folder, "t10k"); }

std::string FindDataset(const std::string& name) {
  std::vector<std::string> folders = {"datasets"};
#ifdef PENSTOCK_DATASETS_FOLDER  // of the build
  folders.push_back(PENSTOCK_DATASETS_FOLDER);
#endif
  const char* given = std::getenv("PENSTOCK_DATASETS");
  if (given != nullptr) folders = {given};
  for (const std::string& folder : folders)
    if (io::FileExists(folder + "/" + name)) return folder + "/" + name;
  throw Error(NotFound("there is no {} in {} (PENSTOCK_DATASETS names the folder)", name,
                       given != nullptr ? given : "datasets/"));
}

}  // namespace penstock
