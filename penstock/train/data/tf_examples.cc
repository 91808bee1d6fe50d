#include "penstock/train/data/tf_examples.h"

#include <algorithm>
#include <utility>

#include "penstock/train/data/example_parser.h"
#include "penstock/train/data/record_files.h"

namespace penstock::data {
namespace {

using Record = io::RecordScanner::Record;

class RecordsCursor final : public Cursor {
 public:
  RecordsCursor(std::shared_ptr<const RecordSet> set, Pass pass)
      : files_(std::move(set), std::move(pass)) {}
  Result<bool> Next(Element* element) override {
    Record record;
    TRY_ASSIGN(const bool more, files_.Next(&record));
    if (more) *element = {Tensor::Scalar(std::string(record.data))};
    return more;
  }

 private:
  RecordFiles files_;
};

class Records final : public Stage {
 public:
  explicit Records(RecordSet set) : set_(std::make_shared<const RecordSet>(std::move(set))) {}
  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    return std::unique_ptr<Cursor>(new RecordsCursor(set_, pass));
  }
  std::string Describe() const override { return set_->Describe(); }

 private:
  const std::shared_ptr<const RecordSet> set_;
};

using ParserPtr = std::shared_ptr<const ExampleParser>;

// Parses one Example after the other.
class ExamplesCursor final : public Cursor {
 public:
  ExamplesCursor(std::shared_ptr<const RecordSet> set, ParserPtr parser, Pass pass)
      : set_(std::move(set)), files_(set_, std::move(pass)), parser_(std::move(parser)) {}

  Result<bool> Next(Element* element) override {
    Record record;
    while (true) {
      TRY_ASSIGN(const bool more, files_.Next(&record));
      if (!more) return false;
      Result<Element> parsed = parser_->Parse(record.data);
      if (parsed.ok()) {
        *element = *std::move(parsed);
        return true;
      }
      TRY(files_.Reject(record.offset, parsed.status()));
    }
  }
  Result<int64_t> NextRows(int64_t n, Element* rows) override {
    if (!parser_->fixed()) return Cursor::NextRows(n, rows);
    TRY_ASSIGN(Element batch, parser_->NewRows(n));
    Record record;
    int64_t row = 0;
    while (row < n) {
      TRY_ASSIGN(const bool more, files_.Next(&record));
      if (!more) break;
      const Status parsed = parser_->ParseTo(record.data, row, &batch);
      if (parsed.ok()) {
        ++row;
      } else {
        TRY(files_.Reject(record.offset, parsed));
      }
    }
    if (row < n)
      for (Tensor& tensor : batch) tensor = tensor.Rows(0, row);
    *rows = std::move(batch);
    return row;
  }
  Result<int64_t> Skip(int64_t n) override {
    // Whether one counts is known only when it was parsed.
    if (set_->options.on_bad == OnBadRecord::kSkip) return Cursor::Skip(n);
    Record record;
    for (int64_t i = 0; i < n; ++i) {
      TRY_ASSIGN(const bool more, files_.Next(&record, /*unchecked=*/true));
      if (!more) return i;
    }
    return n;
  }

 private:
  const std::shared_ptr<const RecordSet> set_;
  RecordFiles files_;
  const ParserPtr parser_;
};

// Where a record lies in a block, and where it came from.
struct Extent {
  int64_t begin = 0, size = 0, crc = 0, file = 0, offset = 0;
};
constexpr int64_t kExtentNumbers = sizeof(Extent) / sizeof(int64_t);

// The records of a batch as they are in the file, for a thread that will parse them: {the bytes of
// all, an Extent for each}.
class BlocksCursor final : public Cursor {
 public:
  BlocksCursor(std::shared_ptr<const RecordSet> set, int64_t size, bool drop, Pass pass)
      : files_(std::move(set), std::move(pass)), size_(size), drop_(drop) {}

  Result<bool> Next(Element* element) override {
    std::string bytes;
    bytes.reserve(last_bytes_ + last_bytes_ / 8);
    std::vector<int64_t> extents;
    Record record;
    int64_t count = 0;
    for (; count < size_; ++count) {
      TRY_ASSIGN(const bool more, files_.Next(&record, /*unchecked=*/true));
      if (!more) break;
      for (const uint64_t number : {bytes.size(), record.data.size(), size_t{record.crc},
                                    files_.file(), static_cast<size_t>(record.offset)})
        extents.push_back(static_cast<int64_t>(number));
      bytes.append(record.data);
    }
    if (count == 0 || (count < size_ && drop_)) return false;
    last_bytes_ = bytes.size();
    *element = {Tensor::Scalar(std::move(bytes)),
                Tensor::FromValues<int64_t>(Shape{count, kExtentNumbers}, extents)};
    return true;
  }
  Result<int64_t> Skip(int64_t n) override {
    Record record;
    for (int64_t batch = 0; batch < n; ++batch) {
      for (int64_t i = 0; i < size_; ++i) {
        TRY_ASSIGN(const bool more, files_.Next(&record, /*unchecked=*/true));
        if (!more) return batch + (i > 0 && !drop_ ? 1 : 0);
      }
    }
    return n;
  }

 private:
  RecordFiles files_;
  const int64_t size_;
  const bool drop_;
  size_t last_bytes_ = 0;
};

class Blocks final : public Stage {
 public:
  Blocks(std::shared_ptr<const RecordSet> set, int64_t size, bool drop)
      : set_(std::move(set)), size_(size), drop_(drop) {}
  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    return std::unique_ptr<Cursor>(new BlocksCursor(set_, size_, drop_, pass));
  }
  std::string Describe() const override { return set_->Describe(); }

 private:
  const std::shared_ptr<const RecordSet> set_;
  const int64_t size_;
  const bool drop_;
};

// Turns a block into the batch.
Result<bool> ParseBlock(const RecordSet& set, const ExampleParser& parser, Element* element) {
  const std::string_view bytes = (*element)[0].scalar<std::string>();
  const int64_t count = (*element)[1].shape().dim(0);
  TRY_ASSIGN(Element rows, parser.NewRows(count));
  for (int64_t row = 0; row < count; ++row) {
    const int64_t* numbers = (*element)[1].data<int64_t>() + row * kExtentNumbers;
    const Extent extent{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
    const Record record{
        bytes.substr(static_cast<size_t>(extent.begin), static_cast<size_t>(extent.size)),
        static_cast<uint64_t>(extent.offset), static_cast<uint32_t>(extent.crc)};
    const Status parsed = record.Intact() ? parser.ParseTo(record.data, row, &rows)
                                          : DataLoss("checksum of the data does not match");
    if (!parsed.ok())
      return parsed.Annotate(Format("{}: record at offset {}",
                                    Printable(set.files[static_cast<size_t>(extent.file)]),
                                    extent.offset));
  }
  *element = std::move(rows);
  return true;
}

class Examples final : public Stage {
 public:
  Examples(RecordSet set, ExampleParser parser)
      : set_(std::make_shared<const RecordSet>(std::move(set))),
        parser_(std::make_shared<const ExampleParser>(std::move(parser))) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    return std::unique_ptr<Cursor>(new ExamplesCursor(set_, parser_, pass));
  }
  std::string Describe() const override { return set_->Describe(); }
  StagePtr Batched(int64_t size, bool drop_remainder) const override {
    const int threads = NumThreads(set_->options.threads);
    // A batch that is cut before it is parsed cannot make up for records that are left out.
    if (threads < 2 || !parser_->fixed() || set_->options.on_bad == OnBadRecord::kSkip)
      return nullptr;
    auto parse = [set = set_, parser = parser_](Element* element, const ElementInfo&) {
      return ParseBlock(*set, *parser, element);
    };
    Result<StagePtr> stage = MakeFunction(std::make_shared<Blocks>(set_, size, drop_remainder),
                                          {"parsing", std::move(parse), threads, false});
    return stage.ok() ? *stage : nullptr;
  }

 private:
  const std::shared_ptr<const RecordSet> set_;
  const ParserPtr parser_;
};

// A pattern that matched nothing must not look like data that have ended.
void CheckFiles(const std::vector<std::string>& files) {
  if (files.empty()) throw Error(InvalidArgument("there are no files to read"));
}

}  // namespace

StagePtr RecordsStage(std::vector<std::string> files, RecordOptions options) {
  CheckFiles(files);
  return std::make_shared<Records>(RecordSet{std::move(files), options});
}

StagePtr ExamplesStage(std::vector<std::string> files, RecordOptions options,
                       std::vector<FeatureSpec> features) {
  CheckFiles(files);
  ExampleParser parser = OrThrow(ExampleParser::Make(std::move(features)));
  return std::make_shared<Examples>(RecordSet{std::move(files), options}, std::move(parser));
}

}  // namespace penstock::data
