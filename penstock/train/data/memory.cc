#include "penstock/train/data/memory.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "penstock/client/error.h"
#include "penstock/train/data/rows.h"
#include "penstock/train/data/stages.h"

namespace penstock::data {
namespace {

DType GivenType(const MemoryField& field) {
  return field.scale != 0 ? DType::kFloat : field.rows.dtype();
}

// Writes row `row` of the field to row `to_row` of `to`.
void CopyRow(const MemoryField& field, int64_t row, int64_t to_row, int64_t size, Tensor* to) {
  if (field.scale != 0) {
    const uint8_t* from = field.rows.data<uint8_t>() + row * size;
    float* out = to->mutable_data<float>() + to_row * size;
    for (int64_t i = 0; i < size; ++i) out[i] = static_cast<float>(from[i]) * field.scale;
  } else if (field.rows.dtype() == DType::kString) {
    std::copy_n(field.rows.data<std::string>() + row * size, size,
                to->mutable_data<std::string>() + to_row * size);
  } else {
    const size_t bytes = static_cast<size_t>(size) * SizeOf(field.rows.dtype());
    if (bytes == 0) return;
    std::memcpy(static_cast<char*>(to->mutable_raw()) + to_row * bytes,
                static_cast<const char*>(field.rows.raw()) + row * bytes, bytes);
  }
}

class Memory final : public Stage, public Indexed {
 public:
  Memory(std::vector<MemoryField> fields, std::string name)
      : fields_(std::move(fields)),
        name_(std::move(name)),
        num_rows_(fields_[0].rows.shape().dim(0)) {}

  // Whoever opens it holds it.
  Result<std::unique_ptr<Cursor>> Open(const Pass&) const override { return ReadRows(this); }
  std::optional<int64_t> Size() const override { return num_rows_; }
  std::string Describe() const override { return Format("{}[{}]", name_, num_rows_); }
  const Indexed* indexed() const override { return this; }

  int64_t num_rows() const override { return num_rows_; }
  Result<Element> Row(int64_t row) const override {
    TRY_ASSIGN(Element element, Rows({&row, 1}));
    for (Tensor& tensor : element)
      tensor = tensor.Reshaped(tensor.shape().Slice(1, tensor.shape().rank()));
    return element;
  }
  Result<Element> Rows(std::span<const int64_t> rows) const override {
    Element element;
    for (const MemoryField& field : fields_) {
      const Shape inner = field.rows.shape().Slice(1, field.rows.shape().rank());
      TRY_ASSIGN(Tensor out, MakeRows(static_cast<int64_t>(rows.size()), GivenType(field), inner));
      const int64_t size = inner.num_elements();
      for (size_t i = 0; i < rows.size(); ++i)
        CopyRow(field, rows[i], static_cast<int64_t>(i), size, &out);
      element.push_back(std::move(out));
    }
    return element;
  }

 private:
  const std::vector<MemoryField> fields_;
  const std::string name_;
  const int64_t num_rows_;
};

class RowsCursor final : public Cursor {
 public:
  explicit RowsCursor(const Indexed* rows) : rows_(rows) {}

  Result<bool> Next(Element* element) override {
    if (at_ == rows_->num_rows()) return false;
    TRY_ASSIGN(*element, rows_->Row(at_));
    ++at_;
    return true;
  }
  Result<int64_t> Skip(int64_t n) override {
    const int64_t count = std::min(n, rows_->num_rows() - at_);
    at_ += count;
    return count;
  }
  Result<int64_t> NextRows(int64_t n, Element* rows) override {
    const int64_t count = std::min(n, rows_->num_rows() - at_);
    if (count == 0) return count;
    std::vector<int64_t> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), at_);
    TRY_ASSIGN(*rows, rows_->Rows(numbers));
    at_ += count;
    return count;
  }

 private:
  const Indexed* const rows_;
  int64_t at_ = 0;
};

}  // namespace

std::unique_ptr<Cursor> ReadRows(const Indexed* rows) { return std::make_unique<RowsCursor>(rows); }

Result<StagePtr> MakeMemory(std::vector<MemoryField> fields, std::string name) {
  if (fields.empty()) return InvalidArgument("{}: elements need a field", name);
  for (size_t i = 0; i < fields.size(); ++i) {
    const Tensor& rows = fields[i].rows;
    if (!rows.initialized() || rows.shape().rank() < 1)
      return InvalidArgument("{}: field {} must have a row for each element, got {}", name, i,
                             rows.initialized() ? rows.shape() : Shape());
    if (rows.shape().dim(0) != fields[0].rows.shape().dim(0))
      return InvalidArgument(
          "{}: the fields must have as many rows: field 0 has {}, field {} has {}", name,
          fields[0].rows.shape().dim(0), i, rows.shape().dim(0));
    if (fields[i].scale != 0 && rows.dtype() != DType::kUint8)
      return InvalidArgument("{}: only rows of uint8 can be scaled, field {} is {}", name, i,
                             rows.dtype());
  }
  return StagePtr(std::make_shared<Memory>(std::move(fields), std::move(name)));
}

StagePtr MemoryOf(std::vector<Tensor> fields) {
  std::vector<MemoryField> rows;
  for (Tensor& field : fields) rows.push_back({std::move(field)});
  return OrThrow(MakeMemory(std::move(rows), "arrays"));
}

Result<StagePtr> LoadStage(const StagePtr& input) {
  TRY_ASSIGN(const std::unique_ptr<Cursor> cursor, input->Open({}));
  std::vector<Element> elements(1);
  while (true) {
    TRY_ASSIGN(const bool more, cursor->Next(&elements.back()));
    if (!more) break;
    elements.emplace_back();
  }
  elements.pop_back();
  if (elements.empty()) return InvalidArgument("{}: there are no elements", input->Describe());
  RowStack stack(static_cast<int64_t>(elements.size()));
  for (Element& element : elements) {
    TRY(stack.Add(element));
    element.clear();  // its memory is needed no more
  }
  std::vector<MemoryField> fields;
  for (Tensor& tensor : stack.Take()) fields.push_back({std::move(tensor)});
  return MakeMemory(std::move(fields), input->Describe());
}

}  // namespace penstock::data
