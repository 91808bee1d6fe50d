#include "penstock/io/compression.h"

#include <algorithm>
#include <limits>
#include <utility>

#ifdef PENSTOCK_ZLIB
#include <zlib.h>
#endif

namespace penstock::io {
namespace {

constexpr size_t kBlockBytes = 256 << 10;

}  // namespace

std::optional<Compression> ParseCompression(std::string_view name) {
  if (name.empty()) return Compression::kNone;
  if (name == "ZLIB") return Compression::kZlib;
  if (name == "GZIP") return Compression::kGzip;
  return std::nullopt;
}

#ifdef PENSTOCK_ZLIB

// Turns pieces of compressed bytes into pieces of the others.
struct InputStream::Inflater {
  explicit Inflater(Compression how) : compression(how) {
    // 16 asks for the header of gzip, a negative number for none.
    const int window = how == Compression::kDeflate ? -MAX_WBITS
                       : how == Compression::kGzip  ? MAX_WBITS + 16
                                                    : MAX_WBITS;
    opened = inflateInit2(&stream, window) == Z_OK;
  }
  ~Inflater() {
    if (opened) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  static Result<std::unique_ptr<Inflater>> Make(Compression how) {
    auto inflater = std::make_unique<Inflater>(how);
    if (!inflater->opened) return ResourceExhausted("zlib has no memory");
    return inflater;
  }

  // Appends what `input` gives, at most `most` bytes, and takes off what was used.
  Status Inflate(std::string_view* input, size_t most, std::string* out) {
    if (between) {
      // Another stream may follow a stream of gzip; anything else is left out.
      done = !input->starts_with('\x1f');
      if (done) return OkStatus();
      if (inflateReset(&stream) != Z_OK) return Internal("zlib cannot begin again");
      between = false;
    }
    const size_t before = out->size();
    out->resize(before + most);
    // zlib does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input->data()));
    stream.avail_in =
        static_cast<uInt>(std::min<size_t>(input->size(), std::numeric_limits<uInt>::max()));
    const uInt given = stream.avail_in;
    stream.next_out = reinterpret_cast<Bytef*>(out->data() + before);
    stream.avail_out = static_cast<uInt>(most);
    const int result = inflate(&stream, Z_NO_FLUSH);
    input->remove_prefix(given - stream.avail_in);
    out->resize(before + most - stream.avail_out);
    if (result == Z_STREAM_END) {
      between = compression == Compression::kGzip;
      done = !between;
      return OkStatus();
    }
    if (result == Z_OK || result == Z_BUF_ERROR) return OkStatus();
    return DataLoss("inflate() failed with error {}: {}", result,
                    stream.msg == nullptr ? "" : stream.msg);
  }

  z_stream stream = {};
  const Compression compression;
  bool opened = false;
  bool between = false;  // a stream has ended, and another may follow
  bool done = false;
  std::string compressed;  // read from the file, not yet inflated
};

Result<std::string> Uncompress(Compression compression, std::string_view bytes, uint64_t limit) {
  if (compression == Compression::kNone) return std::string(bytes);
  TRY_ASSIGN(const std::unique_ptr<InputStream::Inflater> inflater,
             InputStream::Inflater::Make(compression));
  std::string out;
  while (!inflater->done) {
    const size_t left = bytes.size(), had = out.size();
    TRY(inflater->Inflate(&bytes, kBlockBytes, &out));
    if (out.size() > limit)
      return ResourceExhausted("expected at most {} bytes when uncompressed", limit);
    if (bytes.size() == left && out.size() == had) break;
  }
  return out;
}

#else

struct InputStream::Inflater {
  static Result<std::unique_ptr<Inflater>> Make(Compression) {
    return Unimplemented("compressed data need zlib, which this build does not have (zlib1g-dev)");
  }
  Status Inflate(std::string_view*, size_t, std::string*) { return OkStatus(); }
  bool between = false;
  bool done = true;
  std::string compressed;
};

Result<std::string> Uncompress(Compression compression, std::string_view bytes, uint64_t) {
  if (compression == Compression::kNone) return std::string(bytes);
  TRY(InputStream::Inflater::Make(compression).status());
  return std::string();
}

#endif

InputStream::InputStream(File file, std::unique_ptr<Inflater> inflater)
    : file_(std::move(file)), inflater_(std::move(inflater)) {}
InputStream::InputStream(InputStream&&) noexcept = default;
InputStream& InputStream::operator=(InputStream&&) noexcept = default;
InputStream::~InputStream() = default;

Result<InputStream> InputStream::Open(const std::string& path, Compression compression) {
  TRY_ASSIGN(File file, File::OpenToRead(path));
  if (compression == Compression::kNone) return InputStream(std::move(file), nullptr);
  TRY_ASSIGN(std::unique_ptr<Inflater> inflater, Inflater::Make(compression));
  return InputStream(std::move(file), std::move(inflater));
}

Result<bool> InputStream::Fill() {
  if (taken_ < buffer_.size()) return true;
  buffer_.clear();
  taken_ = 0;
  const auto read_block = [&](std::string* into) -> Status {
    into->resize(kBlockBytes);
    TRY_ASSIGN(const size_t got, file_.ReadAt(file_offset_, into->size(), into->data()));
    into->resize(got);
    file_offset_ += got;
    return OkStatus();
  };
  if (inflater_ == nullptr) {
    TRY(read_block(&buffer_));
    return !buffer_.empty();
  }
  while (buffer_.empty() && !inflater_->done) {
    if (inflater_->compressed.empty()) TRY(read_block(&inflater_->compressed));
    if (inflater_->compressed.empty()) {
      if (file_offset_ == 0 || inflater_->between) break;
      return DataLoss("{}: the compressed data end too early, at {}", Printable(path()),
                      file_offset_);
    }
    std::string_view left = inflater_->compressed;
    const size_t before = left.size();
    if (Status inflated = inflater_->Inflate(&left, kBlockBytes, &buffer_); !inflated.ok())
      return inflated.Annotate(Printable(path()));
    if (left.size() == before && buffer_.empty()) break;
    inflater_->compressed.erase(0, before - left.size());
  }
  return !buffer_.empty();
}

void InputStream::Take(size_t n) {
  taken_ += n;
  offset_ += n;
}

Result<size_t> InputStream::Read(size_t n, std::string* out) {
  size_t done = 0;
  while (done < n) {
    TRY_ASSIGN(const bool more, Fill());
    if (!more) break;
    const std::string_view piece = Buffered().substr(0, n - done);
    out->append(piece);
    done += piece.size();
    Take(piece.size());
  }
  return done;
}

Result<uint64_t> InputStream::Skip(uint64_t n) {
  uint64_t done = 0;
  while (done < n) {
    TRY_ASSIGN(const bool more, Fill());
    if (!more) break;
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(n - done, Buffered().size()));
    done += piece;
    Take(piece);
  }
  return done;
}

Result<bool> InputStream::ReadLine(std::string* line, size_t limit) {
  line->clear();
  bool any = false;
  while (true) {
    TRY_ASSIGN(const bool more, Fill());
    if (!more) return any;
    any = true;
    const std::string_view left = Buffered();
    const size_t end = left.find('\n');
    line->append(left.substr(0, end));
    if (line->size() > limit)
      return ResourceExhausted("{}: expected lines of at most {} bytes", Printable(path()), limit);
    if (end == std::string_view::npos) {
      Take(left.size());
      continue;
    }
    Take(end + 1);
    if (line->ends_with('\r')) line->pop_back();
    return true;
  }
}

}  // namespace penstock::io
