// Convolutions through oneDNN.
//
// Images stay as they are, channels last; the filter is converted to the form that oneDNN asks for
// (blocked tensors gain nothing over that: measured on AVX-512 for 1x1, 3x3 and 5x5 filters). A
// pass is cut into parts, each computed by one primitive on one thread.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/kernels/conv_candidates.h"
#include "penstock/kernels/conv_parts.h"
#include "penstock/kernels/dnn/one_dnn.h"
#include "penstock/kernels/dnn/threading.h"

namespace penstock::kernels {
namespace {

using dnnl::memory;
using Dims = memory::dims;

constexpr int64_t Aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// One convolution as oneDNN describes it.
struct Description {
  explicit Description(const ConvShape& s) {
    const int first = s.in[0] == 1 && s.filter[0] == 1 && s.out[0] == 1 ? 1 : 0;
    src = {s.batch, s.in_channels};
    dst = {s.batch, s.out_channels};
    const int64_t in_group = s.in_channels / s.groups, out_group = s.out_channels / s.groups;
    if (s.groups > 1) {
      filter = {s.groups, out_group, in_group};
      filter_strides = {out_group, 1, s.out_channels};
    } else {
      filter = {s.out_channels, s.in_channels};
      filter_strides = {1, s.out_channels};
    }
    int64_t step = in_group * s.out_channels * s.taps();
    for (int axis = first; axis < ConvShape::kAxes; ++axis) {
      src.push_back(s.in[axis]);
      dst.push_back(s.out[axis]);
      filter.push_back(s.filter[axis]);
      step /= s.filter[axis];
      filter_strides.push_back(step);
      strides.push_back(s.stride[axis]);
      dilates.push_back(s.dilation[axis] - 1);
      before.push_back(s.pad[axis]);
      const int64_t reach = (s.filter[axis] - 1) * s.dilation[axis] + 1;
      after.push_back(std::max<int64_t>(
          0, (s.out[axis] - 1) * s.stride[axis] + reach - s.in[axis] - s.pad[axis]));
    }
  }

  memory::desc Images(const Dims& dims) const {
    return {dims, memory::data_type::f32,
            dims.size() == 5 ? memory::format_tag::ndhwc : memory::format_tag::nhwc};
  }
  // `swapped`: input and output channels have changed places, as in a mirrored convolution.
  memory::desc PlainFilter(bool swapped) const {
    Dims steps = filter_strides;
    if (swapped) {
      steps[0] = filter[1];
      steps[1] = 1;
    }
    return {filter, memory::data_type::f32, steps};
  }
  memory::desc AnyFilter() const {
    return {filter, memory::data_type::f32, memory::format_tag::any};
  }

  Dims src, dst, filter, filter_strides, strides, dilates, before, after;
};

// A primitive for parts of one shape, and what it wants of memory.
struct Compiled {
  ConvShape shape;
  dnnl::primitive primitive;
  memory::desc src, dst, filter;
  memory::desc scratchpad;
};

// `filter` is the form that the first part chose, or any.
template <class Desc>
Compiled Finish(const ConvShape& shape, const Desc& desc, dnnl::primitive primitive) {
  Compiled compiled;
  compiled.shape = shape;
  compiled.primitive = std::move(primitive);
  compiled.scratchpad = desc.scratchpad_desc();
  return compiled;
}

dnnl::convolution_forward::primitive_desc ForwardDesc(const Description& d,
                                                      const memory::desc& filter,
                                                      const dnnl::primitive_attr& attr,
                                                      dnnl::prop_kind kind) {
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return {OneDnnEngine(), kind,      kDirect,  d.Images(d.src), filter, d.Images(d.dst),
          d.strides,      d.dilates, d.before, d.after,         attr};
#else
  return {{kind, kDirect, d.Images(d.src), filter, d.Images(d.dst), d.strides, d.dilates, d.before,
           d.after},
          attr,
          OneDnnEngine()};
#endif
}

// Throws when oneDNN has no code for it; `why` is set when it has, but not worth using.
Compiled Compile(const ConvProblem& problem, const ConvShape& shape, const memory::desc& filter,
                 const char** why) {
  const Description d(shape);
  const dnnl::primitive_attr attr = CallersScratch();
  const bool forward = problem.pass == ConvPass::kForward;
  const auto forward_desc =
      ForwardDesc(d, filter, attr,
                  forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training);
  auto check = [&](const auto& desc) {
    if (std::string_view(desc.impl_info_str()).substr(0, 3) == "ref") {
      *why = "oneDNN has only its reference code for it";
    }
  };
  Compiled compiled;
  if (forward) {
    check(forward_desc);
    compiled = Finish(shape, forward_desc, dnnl::convolution_forward(forward_desc));
    compiled.filter = forward_desc.weights_desc();
  } else if (problem.pass == ConvPass::kInputGradient) {
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::convolution_backward_data::primitive_desc desc(
        OneDnnEngine(), dnnl::algorithm::convolution_direct, d.Images(d.src), filter,
        d.Images(d.dst), d.strides, d.dilates, d.before, d.after, forward_desc, attr);
#else
    const dnnl::convolution_backward_data::primitive_desc desc(
        {dnnl::algorithm::convolution_direct, d.Images(d.src), filter, d.Images(d.dst), d.strides,
         d.dilates, d.before, d.after},
        attr, OneDnnEngine(), forward_desc);
#endif
    check(desc);
    compiled = Finish(shape, desc, dnnl::convolution_backward_data(desc));
    compiled.filter = desc.weights_desc();
  } else {
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::convolution_backward_weights::primitive_desc desc(
        OneDnnEngine(), dnnl::algorithm::convolution_direct, d.Images(d.src), filter,
        d.Images(d.dst), d.strides, d.dilates, d.before, d.after, forward_desc, attr);
#else
    const dnnl::convolution_backward_weights::primitive_desc desc(
        {dnnl::algorithm::convolution_direct, d.Images(d.src), filter, d.Images(d.dst), d.strides,
         d.dilates, d.before, d.after},
        attr, OneDnnEngine(), forward_desc);
#endif
    check(desc);
    compiled = Finish(shape, desc, dnnl::convolution_backward_weights(desc));
    compiled.filter = desc.diff_weights_desc();
  }
  compiled.src = d.Images(d.src);
  compiled.dst = d.Images(d.dst);
  return compiled;
}

class OneDnnConvolution final : public Convolution {
 public:
  // Throws what oneDNN throws. `swapped`: see PlainFilter.
  OneDnnConvolution(const ConvProblem& problem, std::vector<ConvPart> parts, bool swapped,
                    const char** why)
      : pass_(problem.pass),
        epilogue_(problem.epilogue),
        multiplications_(problem.shape.multiplications()),
        parts_(std::move(parts)),
        plain_(Description(problem.shape).PlainFilter(swapped)) {
    const SerialOpenMp serial;
    memory::desc filter = Description(problem.shape).AnyFilter();
    for (const ConvPart& part : parts_) {
      size_t i = 0;
      while (i < compiled_.size() && !(compiled_[i].shape == part.shape)) ++i;
      if (i == compiled_.size()) {
        compiled_.push_back(Compile(problem, part.shape, filter, why));
        filter = compiled_[0].filter;
        scratchpad_bytes_ = std::max(
            scratchpad_bytes_, Aligned(static_cast<int64_t>(compiled_[i].scratchpad.get_size())));
      }
      uses_.push_back(i);
    }
    packed_bytes_ = Aligned(static_cast<int64_t>(filter.get_size()));
    is_plain_ = filter == plain_;
    if (!is_plain_) {
      const bool unpacks = pass_ == ConvPass::kFilterGradient;
      const dnnl::reorder::primitive_desc desc(OneDnnEngine(), unpacks ? filter : plain_,
                                               OneDnnEngine(), unpacks ? plain_ : filter,
                                               CallersScratch());
      reorder_ = dnnl::reorder(desc);
      reorder_scratchpad_ = desc.scratchpad_desc();
      scratchpad_bytes_ = std::max(scratchpad_bytes_,
                                   Aligned(static_cast<int64_t>(reorder_scratchpad_.get_size())));
    }
  }

  int64_t scratch_bytes(int threads) const override {
    return FilterBytes() + Slots(threads) * scratchpad_bytes_;
  }

  int64_t packed_filter_bytes() const override {
    return is_plain_ || pass_ == ConvPass::kFilterGradient ? 0 : packed_bytes_ + scratchpad_bytes_;
  }

  bool PackFilter(const void* filter, void* packed) const override {
    return Guarded([&] {
      Reorder(plain_, filter, compiled_[0].filter, packed,
              static_cast<char*>(packed) + packed_bytes_);
    });
  }

  bool Run(const ConvOperands& operands, void* scratch, const ParallelFor& each) const override {
    char* const filters = static_cast<char*>(scratch);
    char* const scratchpads = filters + FilterBytes();
    const bool sums = pass_ == ConvPass::kFilterGradient;
    const void* filter = operands.filter;
    if (!sums && !is_plain_) {
      filter = operands.packed_filter != nullptr ? operands.packed_filter : filters;
      if (operands.packed_filter == nullptr && !Guarded([&] {
            Reorder(plain_, operands.filter, compiled_[0].filter, filters, scratchpads);
          })) {
        return false;
      }
    }
    std::atomic<int64_t> next{0};
    std::atomic<bool> ok{true};
    const int64_t slots = Slots(each.threads());
    const auto count = static_cast<int64_t>(parts_.size());
    each(slots, multiplications_ / 16 / static_cast<double>(slots),
         [&](int64_t begin, int64_t end) {
           for (int64_t slot = begin; slot < end; ++slot) {
             const bool done = Guarded([&] {
               for (int64_t i = next++; i < count; i = next++) {
                 RunPart(i, operands, sums ? filters + i * packed_bytes_ : filter,
                         scratchpads + slot * scratchpad_bytes_);
               }
             });
             if (!done) ok = false;
           }
         });
    if (!ok || !sums) return ok;
    return AddUp(filters, scratchpads, operands.result, each);
  }

 private:
  int64_t Slots(int threads) const {
    return std::min(static_cast<int64_t>(parts_.size()), static_cast<int64_t>(threads));
  }
  int64_t FilterBytes() const {
    if (pass_ == ConvPass::kFilterGradient) {
      return static_cast<int64_t>(parts_.size()) * packed_bytes_;
    }
    return is_plain_ ? 0 : packed_bytes_;
  }

  template <class F>
  static bool Guarded(F&& f) {
    const SerialOpenMp serial;
    try {
      f();
      return true;
    } catch (const dnnl::error&) {
      return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  static memory At(const memory::desc& desc, const void* data) {
    return {desc, OneDnnEngine(), const_cast<void*>(data)};
  }

  void Reorder(const memory::desc& from_desc, const void* from, const memory::desc& to_desc,
               void* to, void* scratchpad) const {
    dnnl::stream stream(OneDnnEngine());
    reorder_.execute(stream, {{DNNL_ARG_FROM, At(from_desc, from)},
                              {DNNL_ARG_TO, At(to_desc, to)},
                              {DNNL_ARG_SCRATCHPAD, At(reorder_scratchpad_, scratchpad)}});
  }

  // Computes part i. `filter` is read, or is where the part's own gradient goes.
  void RunPart(int64_t i, const ConvOperands& operands, const void* filter,
               void* scratchpad) const {
    const ConvPart& part = parts_[static_cast<size_t>(i)];
    const Compiled& c = compiled_[uses_[static_cast<size_t>(i)]];
    auto images = [](const void* base, int64_t offset) {
      return static_cast<const float*>(base) + offset;
    };
    dnnl::stream stream(OneDnnEngine());
    std::unordered_map<int, memory> args{{DNNL_ARG_SCRATCHPAD, At(c.scratchpad, scratchpad)}};
    switch (pass_) {
      case ConvPass::kForward:
        args.emplace(DNNL_ARG_SRC, At(c.src, images(operands.input, part.input_offset)));
        args.emplace(DNNL_ARG_WEIGHTS, At(c.filter, filter));
        args.emplace(DNNL_ARG_DST, At(c.dst, images(operands.result, part.output_offset)));
        break;
      case ConvPass::kInputGradient:
        args.emplace(DNNL_ARG_DIFF_SRC, At(c.src, images(operands.result, part.input_offset)));
        args.emplace(DNNL_ARG_WEIGHTS, At(c.filter, filter));
        args.emplace(DNNL_ARG_DIFF_DST, At(c.dst, images(operands.output, part.output_offset)));
        break;
      case ConvPass::kFilterGradient:
        args.emplace(DNNL_ARG_SRC, At(c.src, images(operands.input, part.input_offset)));
        args.emplace(DNNL_ARG_DIFF_WEIGHTS, At(c.filter, filter));
        args.emplace(DNNL_ARG_DIFF_DST, At(c.dst, images(operands.output, part.output_offset)));
        break;
    }
    c.primitive.execute(stream, args);
    if (!epilogue_.none()) FinishPart(part, operands);
  }

  // Our own epilogue, while the part is in the cache: it gives the bits of the separate ops, and
  // keeps a NaN where the library's activations do not.
  void FinishPart(const ConvPart& part, const ConvOperands& operands) const {
    const int64_t channels = part.shape.out_channels, at = part.output_offset;
    const auto* addend = static_cast<const float*>(operands.addend);
    ApplyEpilogue(epilogue_, part.shape.output_size() / channels, channels,
                  static_cast<float*>(operands.result) + at, channels,
                  static_cast<const float*>(operands.bias),
                  epilogue_.addend ? addend + at : nullptr);
  }

  // Adds the gradients of the parts to that of the first, in their order, and writes it plainly.
  bool AddUp(char* filters, void* scratchpad, void* result, const ParallelFor& each) const {
    const int64_t n = packed_bytes_ / static_cast<int64_t>(sizeof(float));
    const auto count = static_cast<int64_t>(parts_.size());
    float* const first = reinterpret_cast<float*>(filters);
    constexpr int64_t kBlock = 2048;
    if (count > 1) {
      each(
          n, static_cast<double>(count) / 4,
          [&](int64_t begin, int64_t end) {
            for (int64_t at = begin; at < end; at += kBlock) {
              const int64_t stop = std::min(at + kBlock, end);
              for (int64_t part = 1; part < count; ++part) {
                const float* other = first + part * n;
                for (int64_t j = at; j < stop; ++j) first[j] += other[j];
              }
            }
          },
          kBlock);
    }
    if (is_plain_) {
      std::memcpy(result, filters, plain_.get_size());
      return true;
    }
    return Guarded([&] { Reorder(compiled_[0].filter, filters, plain_, result, scratchpad); });
  }

  const ConvPass pass_;
  const Epilogue epilogue_;
  const double multiplications_;
  const std::vector<ConvPart> parts_;
  const memory::desc plain_;
  std::vector<Compiled> compiled_;
  std::vector<size_t> uses_;  // which of compiled_ a part uses
  bool is_plain_ = false;
  int64_t packed_bytes_ = 0;
  int64_t scratchpad_bytes_ = 0;
  dnnl::reorder reorder_;
  memory::desc reorder_scratchpad_;
};

// The input's gradient of a convolution without groups and of stride 1: a convolution of the
// output's gradient with the taps in reverse order, input and output channels swapped. oneDNN 2's
// forward code is some 5 % faster than its own code for this pass.
class MirroredConvolution final : public Convolution {
 public:
  // `forward` is made for Mirrored(shape) and a swapped filter.
  MirroredConvolution(const ConvShape& shape, std::unique_ptr<Convolution> forward)
      : taps_(shape.taps()),
        tap_bytes_(shape.in_channels * shape.out_channels * static_cast<int64_t>(sizeof(float))),
        forward_(std::move(forward)) {}

  static bool Fits(const ConvProblem& problem) {
    return problem.pass == ConvPass::kInputGradient && problem.shape.groups == 1 &&
           problem.shape.stride == ConvShape::Extents{1, 1, 1};
  }
  static ConvShape Mirrored(const ConvShape& shape) {
    ConvShape mirrored = shape;
    std::swap(mirrored.in, mirrored.out);
    std::swap(mirrored.in_channels, mirrored.out_channels);
    for (int axis = 0; axis < ConvShape::kAxes; ++axis) {
      mirrored.pad[axis] = (shape.filter[axis] - 1) * shape.dilation[axis] - shape.pad[axis];
    }
    return mirrored;
  }

  int64_t scratch_bytes(int threads) const override {
    return Aligned(taps_ * tap_bytes_) + forward_->scratch_bytes(threads);
  }
  bool Run(const ConvOperands& operands, void* scratch, const ParallelFor& each) const override {
    char* const reversed = static_cast<char*>(scratch);
    const char* filter = static_cast<const char*>(operands.filter);
    for (int64_t tap = 0; tap < taps_; ++tap) {
      std::memcpy(reversed + (taps_ - 1 - tap) * tap_bytes_, filter + tap * tap_bytes_,
                  static_cast<size_t>(tap_bytes_));
    }
    ConvOperands mirrored;
    mirrored.input = operands.output;
    mirrored.filter = reversed;
    mirrored.result = operands.result;
    return forward_->Run(mirrored, reversed + Aligned(taps_ * tap_bytes_), each);
  }

 private:
  const int64_t taps_;
  const int64_t tap_bytes_;
  const std::unique_ptr<Convolution> forward_;
};

const char* Unfit(const ConvProblem& problem) {
  if (problem.dtype != DType::kFloat) return "it computes in float only";
  if (const char* why = UnfitThreading()) return why;
  const ConvShape& s = problem.shape;
  for (int axis = 0; axis < ConvShape::kAxes; ++axis) {
    const int64_t reach = (s.filter[axis] - 1) * s.dilation[axis] + 1;
    const int64_t after = (s.out[axis] - 1) * s.stride[axis] + reach - s.in[axis] - s.pad[axis];
    if (s.pad[axis] >= reach || after >= reach) return "the padding is wider than the filter";
    if (-after >= s.stride[axis]) return "input positions past the last that is read";
  }
  constexpr int64_t kMost = int64_t{1} << 31;
  const int64_t images = s.batch;
  if (s.input_size() / images >= kMost || s.output_size() / images >= kMost ||
      s.filter_size() >= kMost || s.in_channels >= kMost || s.out_channels >= kMost) {
    return "an image or the filter has 2^31 elements or more";
  }
  if (s.multiplications() < 512) return "the convolution is too small to be worth a call";
  return nullptr;
}

// Null, and `why`, when oneDNN cannot or should not take the problem.
std::unique_ptr<Convolution> Make(const ConvProblem& problem, bool swapped, const char** why) {
  std::vector<ConvPart> parts = SplitConvolution(problem.pass, problem.shape);
  for (;;) {
    try {
      const char* poor = nullptr;
      auto made = std::make_unique<OneDnnConvolution>(problem, parts, swapped, &poor);
      if (poor == nullptr) return made;
      *why = poor;
    } catch (const dnnl::error&) {
      *why = "oneDNN has no code for it";
    } catch (const std::bad_alloc&) {
      *why = "oneDNN has no memory";
    }
    if (parts.size() == 1) return nullptr;
    // Parts of another shape may have no code for the filter's form that the first one chose.
    parts = {{problem.shape, 0, 0}};
  }
}

}  // namespace

std::unique_ptr<Convolution> MakeOneDnnConvolution(const ConvProblem& problem, const char** why) {
  *why = Unfit(problem);
  if (*why != nullptr) return nullptr;
  if (MirroredConvolution::Fits(problem)) {
    const ConvProblem mirrored{
        ConvPass::kForward, problem.dtype, MirroredConvolution::Mirrored(problem.shape), {}};
    if (auto forward = Make(mirrored, /*swapped=*/true, why)) {
      *why = nullptr;
      return std::make_unique<MirroredConvolution>(problem.shape, std::move(forward));
    }
  }
  return Make(problem, /*swapped=*/false, why);
}

}  // namespace penstock::kernels
