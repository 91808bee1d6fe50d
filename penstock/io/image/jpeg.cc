#include "penstock/io/image/jpeg.h"

#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// libjpeg leaves by longjmp. A function that calls setjmp here has no object with a destructor, and
// nothing that it changes is read after a jump but through the Reader or Writer that it was given.

namespace penstock::io {
namespace {

// What the library and its callbacks share on the way out.
struct Failure {
  jpeg_error_mgr manager;  // first, so that the library's pointer to it is one to this
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];

  void Install(jpeg_error_mgr*& slot) {
    slot = jpeg_std_error(&manager);
    message[0] = '\0';
    manager.error_exit = [](j_common_ptr info) {
      auto* self = reinterpret_cast<Failure*>(info->err);
      self->manager.format_message(info, self->message);
      std::longjmp(self->jump, 1);
    };
    manager.output_message = [](j_common_ptr) {};
  }
  void Say(const char* text) { std::snprintf(message, sizeof message, "%s", text); }
  Status ToStatus() const { return InvalidArgument("JPEG: {}", std::string_view(message)); }
};

// A file in memory. At its end the library is told to wait, which ends decoding; to recover it is
// given an end mark, once.
struct Source {
  jpeg_source_mgr manager;
  bool recover;
  const JOCTET* stalled_at;
  int stalls;

  static constexpr JOCTET kEnd[2] = {0xff, JPEG_EOI};

  bool Recover() {
    const JOCTET* at = manager.next_input_byte;
    // In the midst of a block the library has read further than it says. As in stock TensorFlow it
    // is given the same bytes again; a block takes at most some thousands, a marker for ever.
    constexpr int kMaxStalls = 4096;
    stalls = at == stalled_at ? stalls + 1 : 0;
    stalled_at = at;
    const bool ended = at == kEnd || at == kEnd + 1 || at == kEnd + 2;
    if (manager.bytes_in_buffer > 0 && stalls < kMaxStalls) return true;
    if (ended) return false;
    manager.next_input_byte = kEnd;
    manager.bytes_in_buffer = sizeof kEnd;
    return true;
  }

  void Install(jpeg_source_mgr*& slot, std::string_view bytes, bool recover_truncated) {
    slot = &manager;
    recover = recover_truncated;
    manager.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
    manager.bytes_in_buffer = bytes.size();
    manager.init_source = [](j_decompress_ptr) {};
    manager.term_source = [](j_decompress_ptr) {};
    manager.resync_to_restart = &jpeg_resync_to_restart;
    stalled_at = nullptr;
    manager.fill_input_buffer = [](j_decompress_ptr info) -> boolean {
      auto* self = reinterpret_cast<Source*>(info->src);
      return self->recover && self->Recover() ? TRUE : FALSE;
    };
    manager.skip_input_data = [](j_decompress_ptr info, long count) {
      jpeg_source_mgr* source = info->src;
      if (count <= 0) return;
      const size_t skipped = std::min(static_cast<size_t>(count), source->bytes_in_buffer);
      source->next_input_byte += skipped;
      source->bytes_in_buffer -= skipped;
    };
  }
};

// A file can hold scan after scan of nothing, each as dear as an image.
struct ScanLimit {
  jpeg_progress_mgr manager;

  static constexpr int kMaxScans = 500;

  void Install(jpeg_decompress_struct& info) {
    manager = {};
    manager.progress_monitor = [](j_common_ptr common) {
      auto* reader = reinterpret_cast<j_decompress_ptr>(common);
      if (reader->input_scan_number <= kMaxScans) return;
      auto* failure = reinterpret_cast<Failure*>(common->err);
      failure->Say("there are more than 500 scans");
      std::longjmp(failure->jump, 1);
    };
    info.progress = &manager;
  }
};

// The file that is being read. Threads: one at a time.
struct Reader {
  jpeg_decompress_struct info;
  Failure failure;
  Source source;
  ScanLimit limit;
  bool created = false;

  Reader() { std::memset(&info, 0, sizeof info); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (created) jpeg_destroy_decompress(&info);
  }
};

bool ReadHeader(Reader& reader, std::string_view bytes, bool recover) {
  reader.failure.Install(reader.info.err);
  if (setjmp(reader.failure.jump) != 0) return false;
  jpeg_create_decompress(&reader.info);
  reader.created = true;
  reader.source.Install(reader.info.src, bytes, recover);
  reader.limit.Install(reader.info);
  if (jpeg_read_header(&reader.info, TRUE) == JPEG_HEADER_OK) return true;
  reader.failure.Say("the header is cut off");
  return false;
}

bool IsCmyk(const jpeg_decompress_struct& info) {
  return info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
}

// Sets what to decode to and computes its extent.
bool Prepare(Reader& reader, const JpegDecodeOptions& options, int channels) {
  if (setjmp(reader.failure.jump) != 0) return false;
  jpeg_decompress_struct& info = reader.info;
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : IsCmyk(info) ? JCS_CMYK : JCS_RGB;
  info.do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(options.ratio);
  info.dct_method = options.accurate ? JDCT_ISLOW : JDCT_IFAST;
  // Coefficients of a progressive file are kept whole.
  info.mem->max_memory_to_use = static_cast<long>(options.max_samples * 4);
  jpeg_calc_output_dimensions(&info);
  return true;
}

bool Start(Reader& reader, const std::optional<JpegCrop>& crop) {
  if (setjmp(reader.failure.jump) != 0) return false;
  if (jpeg_start_decompress(&reader.info) == FALSE) {
    reader.failure.Say("the data ends before the image begins");
    return false;
  }
  if (!crop) return true;
  // The library decodes whole blocks: it may begin further left and give more.
  auto x = static_cast<JDIMENSION>(crop->x);
  auto width = static_cast<JDIMENSION>(crop->width);
  jpeg_crop_scanline(&reader.info, &x, &width);
  if (jpeg_skip_scanlines(&reader.info, static_cast<JDIMENSION>(crop->y)) == crop->y) return true;
  reader.failure.Say("the data ends before the crop window begins");
  return false;
}

// One row: 1 when it was read, 0 at the end of the data, -1 on error.
int ReadRow(Reader& reader, uint8_t* row) {
  if (setjmp(reader.failure.jump) != 0) return -1;
  return static_cast<int>(jpeg_read_scanlines(&reader.info, &row, 1));
}

bool Finish(Reader& reader, bool cropped) {
  if (setjmp(reader.failure.jump) != 0) return false;
  jpeg_decompress_struct& info = reader.info;
  if (cropped && info.output_scanline < info.output_height)
    jpeg_skip_scanlines(&info, info.output_height - info.output_scanline);
  // What follows the image may be cut off: the pixels are there.
  if (info.output_scanline >= info.output_height) jpeg_finish_decompress(&info);
  return true;
}

// Inks as files by Adobe hold them are inverted.
void CmykToRgb(const uint8_t* cmyk, int64_t width, bool inverted, uint8_t* rgb) {
  for (int64_t i = 0; i < width; ++i, cmyk += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) {
      const int ink = inverted ? cmyk[c] : 255 - cmyk[c];
      const int key = inverted ? cmyk[3] : 255 - cmyk[3];
      rgb[c] = static_cast<uint8_t>(key * ink / 255);
    }
  }
}

// Reads all rows; *rows_read says how many were there.
Status ReadRows(Reader& reader, const ImageExtent& extent, uint8_t* pixels, int64_t* rows_read) {
  const bool cmyk = reader.info.out_color_space == JCS_CMYK;
  const int64_t samples = cmyk ? 4 : extent.channels;
  const int64_t row_bytes = extent.width * extent.channels;
  // A crop window ends where the decoded row does.
  const int64_t before = reader.info.output_width - extent.width;
  std::vector<uint8_t> decoded;
  if (cmyk || before > 0) decoded.resize(static_cast<size_t>(reader.info.output_width * samples));
  for (*rows_read = 0; *rows_read < extent.height; ++*rows_read) {
    uint8_t* row = pixels + *rows_read * row_bytes;
    const int read = ReadRow(reader, decoded.empty() ? row : decoded.data());
    if (read < 0) return reader.failure.ToStatus();
    if (read == 0) return OkStatus();
    const uint8_t* from = decoded.data() + before * samples;
    if (cmyk) {
      CmykToRgb(from, extent.width, reader.info.saw_Adobe_marker != FALSE, row);
    } else if (before > 0) {
      std::memcpy(row, from, static_cast<size_t>(row_bytes));
    }
  }
  return OkStatus();
}

// Fills the rows that the file does not have.
Status FillRows(const ImageExtent& extent, int64_t rows_read, const JpegDecodeOptions& options,
                uint8_t* pixels) {
  const int64_t row_bytes = extent.width * extent.channels;
  if (options.recover_truncated && rows_read > 0) {
    for (int64_t y = rows_read; y < extent.height; ++y)
      std::memcpy(pixels + y * row_bytes, pixels + (y - 1) * row_bytes,
                  static_cast<size_t>(row_bytes));
    return OkStatus();
  }
  const float read = static_cast<float>(rows_read) / static_cast<float>(extent.height);
  if (!options.recover_truncated && read < std::min(1.0f, options.acceptable_fraction)) {
    return InvalidArgument("JPEG: the data ends after {} of {} rows", rows_read, extent.height);
  }
  std::memset(pixels + rows_read * row_bytes, 0,
              static_cast<size_t>((extent.height - rows_read) * row_bytes));
  return OkStatus();
}

// The image that is being written.
struct Writer {
  jpeg_compress_struct info;
  Failure failure;
  bool created = false;
  unsigned char* data = nullptr;
  unsigned long size = 0;

  Writer() { std::memset(&info, 0, sizeof info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    if (created) jpeg_destroy_compress(&info);
    std::free(data);
  }
};

bool WriteImage(Writer& writer, const uint8_t* pixels, const ImageExtent& extent,
                const JpegEncodeOptions& options, std::string_view xmp_packet) {
  writer.failure.Install(writer.info.err);
  if (setjmp(writer.failure.jump) != 0) return false;
  jpeg_compress_struct& info = writer.info;
  jpeg_create_compress(&info);
  writer.created = true;
  jpeg_mem_dest(&info, &writer.data, &writer.size);
  info.image_width = static_cast<JDIMENSION>(extent.width);
  info.image_height = static_cast<JDIMENSION>(extent.height);
  info.input_components = static_cast<int>(extent.channels);
  info.in_color_space = extent.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  info.optimize_coding = options.optimize_size ? TRUE : FALSE;
  info.density_unit = options.density_in_inches ? 1 : 2;
  info.X_density = static_cast<UINT16>(options.x_density);
  info.Y_density = static_cast<UINT16>(options.y_density);
  jpeg_set_quality(&info, options.quality, TRUE);
  if (options.progressive) jpeg_simple_progression(&info);
  if (!options.chroma_downsampling) {
    for (int i = 0; i < info.num_components; ++i)
      info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
  }
  jpeg_start_compress(&info, TRUE);
  if (!xmp_packet.empty()) {
    jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(xmp_packet.data()),
                      static_cast<unsigned>(xmp_packet.size()));
  }
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<uint8_t*>(pixels + static_cast<int64_t>(info.next_scanline) *
                                                  extent.width * extent.channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

}  // namespace

Status DecodeJpeg(std::string_view bytes, const JpegDecodeOptions& options, PixelMemory memory) {
  Reader reader;
  if (!ReadHeader(reader, bytes, options.recover_truncated)) return reader.failure.ToStatus();
  const int channels =
      options.channels != 0 ? options.channels : std::min(reader.info.num_components, 3);
  if (channels != 1 && channels != 3)
    return InvalidArgument("JPEG: images have 1 or 3 channels, got {}", channels);
  if (!Prepare(reader, options, channels)) return reader.failure.ToStatus();
  ImageExtent extent{1, reader.info.output_height, reader.info.output_width,
                     std::max(channels, reader.info.num_components)};
  TRY(CheckExtent(extent, options.max_samples, "JPEG"));
  extent.channels = channels;
  if (options.crop) {
    const JpegCrop& crop = *options.crop;
    if (crop.height <= 0 || crop.width <= 0 || crop.y < 0 || crop.x < 0 ||
        crop.height > extent.height - crop.y || crop.width > extent.width - crop.x) {
      return InvalidArgument(
          "JPEG: the crop window must lie within {} x {}, got {} x {} at ({}, {})", extent.height,
          extent.width, crop.height, crop.width, crop.y, crop.x);
    }
    extent.height = crop.height;
    extent.width = crop.width;
  }
  if (!Start(reader, options.crop)) return reader.failure.ToStatus();
  TRY_ASSIGN(uint8_t * pixels, memory(extent));
  int64_t rows_read = 0;
  TRY(ReadRows(reader, extent, pixels, &rows_read));
  if (rows_read < extent.height) return FillRows(extent, rows_read, options, pixels);
  if (!Finish(reader, options.crop.has_value())) return reader.failure.ToStatus();
  return OkStatus();
}

Result<ImageExtent> ReadJpegExtent(std::string_view bytes) {
  Reader reader;
  if (!ReadHeader(reader, bytes, false)) return reader.failure.ToStatus();
  // What decoding gives: the library turns colours with brightness apart into RGB.
  const bool keeps = IsCmyk(reader.info) || reader.info.num_components == 1;
  return ImageExtent{1, reader.info.image_height, reader.info.image_width,
                     keeps ? reader.info.num_components : 3};
}

Result<std::string> EncodeJpeg(const uint8_t* pixels, const ImageExtent& extent,
                               const JpegEncodeOptions& options) {
  TRY(CheckExtent(extent, kMaxSamples, "JPEG"));
  constexpr std::string_view kNamespace = "http://ns.adobe.com/xap/1.0/";
  std::string packet;
  if (!options.xmp_metadata.empty())
    packet.append(kNamespace).append(1, '\0').append(options.xmp_metadata);
  Writer writer;
  if (!WriteImage(writer, pixels, extent, options, packet)) return writer.failure.ToStatus();
  return std::string(reinterpret_cast<const char*>(writer.data), writer.size);
}

}  // namespace penstock::io
