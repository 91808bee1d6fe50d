#include "penstock/io/image/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>

// libpng leaves by longjmp. A function that calls setjmp here has no object with a destructor, and
// nothing that it changes is read after a jump but through the Reader or Writer that it was given.

namespace penstock::io {
namespace {

struct Failure {
  std::jmp_buf jump;
  char message[200] = {};

  [[noreturn]] static void Raise(png_structp png, png_const_charp text) {
    auto* self = static_cast<Failure*>(png_get_error_ptr(png));
    std::snprintf(self->message, sizeof self->message, "%s", text);
    std::longjmp(self->jump, 1);
  }
  static void Ignore(png_structp, png_const_charp) {}
  Status ToStatus() const { return InvalidArgument("PNG: {}", std::string_view(message)); }
};

struct Reader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Failure failure;
  std::string_view left;
  int channels = 0;
  int passes = 1;
  bool widen = false;  // 8 bits in the file, 16 wanted

  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void ReadBytes(png_structp png, png_bytep out, size_t size) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (size > reader->left.size()) png_error(png, "the data is cut off");
  std::memcpy(out, reader->left.data(), size);
  reader->left.remove_prefix(size);
}

// Reads the header and says how to turn the file's samples into what was asked for.
bool Prepare(Reader& reader, const PngDecodeOptions& options) {
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader.failure, &Failure::Raise,
                                      &Failure::Ignore);
  if (reader.png == nullptr) return false;
  if (setjmp(reader.failure.jump) != 0) return false;
  png_structp png = reader.png;
  reader.info = png_create_info_struct(png);
  if (reader.info == nullptr) return false;
  png_set_read_fn(png, &reader, &ReadBytes);
  png_read_info(png, reader.info);
  const int colour = png_get_color_type(png, reader.info);
  const int depth = png_get_bit_depth(png, reader.info);
  const bool transparent = png_get_valid(png, reader.info, PNG_INFO_tRNS) != 0;
  const bool has_alpha = (colour & PNG_COLOR_MASK_ALPHA) != 0;
  const bool is_grey = (colour & PNG_COLOR_MASK_COLOR) == 0;
  reader.channels = options.channels != 0              ? options.channels
                    : colour == PNG_COLOR_TYPE_PALETTE ? (transparent ? 4 : 3)
                                                       : png_get_channels(png, reader.info);
  if (reader.channels % 2 == 0) {
    if (!has_alpha && transparent) {
      png_set_tRNS_to_alpha(png);
    } else if (!has_alpha) {
      png_set_add_alpha(png, (1u << depth) - 1, PNG_FILLER_AFTER);
    }
  } else if (has_alpha || transparent) {
    png_set_strip_alpha(png);
  }
  if (depth > 8 && options.bits == 8) png_set_strip_16(png);
  reader.widen = depth <= 8 && options.bits == 16;
  png_set_packing(png);
  reader.passes = png_set_interlace_handling(png);
  if (options.bits == 16) png_set_swap(png);
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (is_grey && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (reader.channels < 3) {
    if (!is_grey) png_set_rgb_to_gray(png, 1, 0.299, 0.587);  // BT.601, as JPEG has it
  } else if (is_grey) {
    png_set_gray_to_rgb(png);
  }
  png_read_update_info(png, reader.info);
  return true;
}

bool ReadRows(Reader& reader, uint8_t* pixels, int64_t height, int64_t row_bytes) {
  if (setjmp(reader.failure.jump) != 0) return false;
  if (static_cast<int64_t>(png_get_rowbytes(reader.png, reader.info)) > row_bytes)
    png_error(reader.png, "rows are longer than the header says");
  for (int pass = 0; pass < reader.passes; ++pass)
    for (int64_t y = 0; y < height; ++y) png_read_row(reader.png, pixels + y * row_bytes, nullptr);
  png_read_end(reader.png, nullptr);
  return true;
}

// Rows of 8-bit samples at the start of rows for 16-bit ones: 0xab becomes 0xabab.
void Widen(uint8_t* pixels, int64_t height, int64_t row_samples) {
  for (int64_t y = 0; y < height; ++y) {
    uint8_t* row = pixels + y * row_samples * 2;
    for (int64_t i = row_samples; i-- > 0;) row[2 * i] = row[2 * i + 1] = row[i];
  }
}

struct Writer {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Failure failure;
  std::string* out = nullptr;

  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { png_destroy_write_struct(&png, &info); }
};

bool WriteImage(Writer& writer, const uint8_t* samples, const ImageExtent& extent, int bits,
                int compression) {
  writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer.failure, &Failure::Raise,
                                       &Failure::Ignore);
  if (writer.png == nullptr) return false;
  if (setjmp(writer.failure.jump) != 0) return false;
  png_structp png = writer.png;
  writer.info = png_create_info_struct(png);
  if (writer.info == nullptr) return false;
  png_set_write_fn(
      png, &writer,
      [](png_structp p, png_bytep data, size_t size) {
        static_cast<Writer*>(png_get_io_ptr(p))
            ->out->append(reinterpret_cast<const char*>(data), size);
      },
      [](png_structp) {});
  constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_RGB_ALPHA};
  if (compression >= 0) png_set_compression_level(png, compression);
  png_set_IHDR(png, writer.info, static_cast<png_uint_32>(extent.width),
               static_cast<png_uint_32>(extent.height), bits, kColours[extent.channels - 1],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, writer.info);
  if (bits == 16) png_set_swap(png);
  const int64_t row_bytes = extent.width * extent.channels * bits / 8;
  for (int64_t y = 0; y < extent.height; ++y) png_write_row(png, samples + y * row_bytes);
  png_write_end(png, nullptr);
  return true;
}

}  // namespace

Status DecodePng(std::string_view bytes, const PngDecodeOptions& options, PixelMemory memory) {
  Reader reader;
  reader.left = bytes;
  if (!Prepare(reader, options)) return reader.failure.ToStatus();
  const ImageExtent extent{1, png_get_image_height(reader.png, reader.info),
                           png_get_image_width(reader.png, reader.info), reader.channels};
  TRY(CheckExtent(extent, options.max_samples, "PNG"));
  TRY_ASSIGN(uint8_t * pixels, memory(extent));
  const int64_t row_samples = extent.width * extent.channels;
  if (!ReadRows(reader, pixels, extent.height, row_samples * options.bits / 8))
    return reader.failure.ToStatus();
  if (reader.widen) Widen(pixels, extent.height, row_samples);
  return OkStatus();
}

Result<std::string> EncodePng(const void* samples, const ImageExtent& extent, int bits,
                              int compression) {
  TRY(CheckExtent(extent, kMaxSamples, "PNG"));
  Writer writer;
  std::string out;
  writer.out = &out;
  if (!WriteImage(writer, static_cast<const uint8_t*>(samples), extent, bits, compression))
    return writer.failure.ToStatus();
  return out;
}

}  // namespace penstock::io
