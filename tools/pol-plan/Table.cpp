//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "Message.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace pol_plan;
using namespace mlir::pol::placement;
using pol_run::makeError;
using pol_run::quoted;
using pol_run::quotedPath;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

namespace {
/// Cuts a text into records and their fields. A field in double quotes may have
/// commas, ends of lines and, doubled, quotes in it.
class Reader {
public:
  explicit Reader(llvm::StringRef rest) : rest(rest) {}

  bool isAtEnd() const { return rest.empty(); }
  size_t getLine() const { return line; }

  /// The fields of the next record as they are written. What is wrong with
  /// them, if anything.
  const char *readRecord(std::vector<llvm::StringRef> &fields);

private:
  const char *readField(llvm::StringRef &field);

  llvm::StringRef rest;
  size_t line = 1;
};
} // namespace

const char *Reader::readField(llvm::StringRef &field) {
  if (!rest.starts_with("\"")) {
    field = rest.take_front(rest.find_first_of(",\n"));
    rest = rest.drop_front(field.size());
    return nullptr;
  }
  size_t end = 1;
  while (true) {
    end = rest.find('"', end);
    if (end == llvm::StringRef::npos)
      return "expected a closing quote, but got the end of the file";
    if (!rest.substr(end + 1).starts_with("\""))
      break;
    end += 2;
  }
  field = rest.take_front(end + 1);
  line += field.count('\n');
  rest = rest.drop_front(end + 1);
  if (rest.empty() || rest.front() == ',' || rest.front() == '\n' ||
      rest.starts_with("\r\n") || rest == "\r")
    return nullptr;
  return "expected a comma behind a quoted field";
}

const char *Reader::readRecord(std::vector<llvm::StringRef> &fields) {
  fields.clear();
  do {
    if (const char *fault = readField(fields.emplace_back()))
      return fault;
  } while (rest.consume_front(","));
  rest.consume_front("\r");
  if (rest.consume_front("\n"))
    ++line;
  // An unquoted field takes the carriage return with it.
  if (!fields.back().starts_with("\""))
    fields.back() = fields.back().rtrim('\r');
  return nullptr;
}

/// What a field says, without the quotes.
static std::string unquote(llvm::StringRef field) {
  if (!field.consume_front("\""))
    return field.trim().str();
  std::string result;
  field = field.drop_back();
  while (!field.empty()) {
    result += field.front();
    field = field.drop_front(field.starts_with("\"\"") ? 2 : 1);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

llvm::Error Table::makeErrorAt(size_t line, const llvm::Twine &message) const {
  return makeError(getName() + ":" + llvm::Twine(line) + ": " + message);
}

llvm::Expected<Table> Table::load(llvm::StringRef path) {
  auto text = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false,
                                                 /*RequiresNullTerminator=*/
                                                 false);
  if (!text)
    return makeError("cannot read " + quotedPath(path) + ": " +
                     text.getError().message());
  return parse(std::move(*text));
}

llvm::Expected<Table> Table::parse(std::unique_ptr<llvm::MemoryBuffer> text) {
  Table table;
  table.text = std::move(text);
  if (llvm::Error error = table.parseRows())
    return std::move(error);
  if (std::optional<std::string> fault = check(table.buffers))
    return makeError(table.explain(*fault));
  return table;
}

llvm::Expected<Table> Table::fromBuffers(const Buffers &buffers) {
  std::string text = "id,lower,upper,size\n";
  llvm::raw_string_ostream os(text);
  for (size_t i = 0; i < buffers.size(); ++i)
    os << i << "," << buffers[i].begin << "," << buffers[i].end << ","
       << buffers[i].size << "\n";
  return parse(llvm::MemoryBuffer::getMemBufferCopy(text, "generated"));
}

llvm::Error Table::parseRows() {
  llvm::StringRef bytes = text->getBuffer();
  bytes.consume_front("\xef\xbb\xbf"); // a mark of UTF-8
  Reader reader(bytes);
  bool hasHeader = false;
  llvm::StringMap<size_t> lineOfId;
  while (!reader.isAtEnd()) {
    Row row;
    row.line = reader.getLine();
    if (const char *fault = reader.readRecord(row.fields))
      return makeErrorAt(row.line, fault);
    if (row.fields.size() == 1 && row.fields[0].trim().empty())
      continue;
    if (!hasHeader) {
      if (llvm::Error error = parseHeader(row))
        return error;
      hasHeader = true;
      header = std::move(row);
      continue;
    }
    if (row.fields.size() != header.fields.size())
      return makeErrorAt(
          row.line,
          "expected " + pol_run::counted(header.fields.size(), "field") +
              ", as in the header, but got " + llvm::Twine(row.fields.size()));
    std::string name = unquote(row.fields[id]);
    auto [known, isNew] = lineOfId.try_emplace(name, row.line);
    if (!isNew)
      return makeErrorAt(row.line, "expected ids to be different, but got " +
                                       quoted(name) + " as in line " +
                                       llvm::Twine(known->second));
    if (llvm::Error error = parseBuffer(row))
      return error;
    rows.push_back(std::move(row));
  }
  if (!hasHeader)
    return makeErrorAt(1, "expected a header with id, lower, upper and size, "
                          "but got no text");
  return llvm::Error::success();
}

llvm::Error Table::parseHeader(const Row &row) {
  std::optional<size_t> required[4];
  llvm::StringRef names[] = {"id",        "lower", "upper", "size",
                             "alignment", "gaps",  "offset"};
  std::optional<size_t> *columns[] = {&required[0], &required[1], &required[2],
                                      &required[3], &alignment,   &gaps,
                                      &offset};
  for (size_t i = 0; i < row.fields.size(); ++i) {
    std::string name = unquote(row.fields[i]);
    for (auto [known, column] : llvm::zip_equal(names, columns)) {
      if (name != known)
        continue;
      if (*column)
        return makeErrorAt(row.line,
                           "expected one column " + known + ", but got two");
      *column = i;
    }
  }
  for (size_t i = 0; i < 4; ++i)
    if (!required[i])
      return makeErrorAt(row.line, "expected a column " + names[i] +
                                       ", but got only " +
                                       quoted(llvm::join(row.fields, ",")));
  id = *required[0];
  lower = *required[1];
  upper = *required[2];
  size = *required[3];
  if (offset)
    offsets.emplace();
  return llvm::Error::success();
}

llvm::Error Table::parseNumber(const Row &row, size_t column, int64_t &number) {
  std::string cell = unquote(row.fields[column]);
  if (llvm::StringRef(cell).trim().getAsInteger(10, number))
    return makeErrorAt(row.line, "expected " + unquote(header.fields[column]) +
                                     " to be a whole number of 64 bits, but "
                                     "got " +
                                     quoted(cell));
  return llvm::Error::success();
}

llvm::Error Table::parseBuffer(const Row &row) {
  Buffer buffer;
  int64_t at = 0;
  bool isAligned = alignment && !unquote(row.fields[*alignment]).empty();
  std::pair<std::optional<size_t>, int64_t *> numbers[] = {
      {lower, &buffer.begin},
      {upper, &buffer.end},
      {size, &buffer.size},
      {isAligned ? alignment : std::nullopt, &buffer.alignment},
      {offset, &at}};
  for (auto [column, number] : numbers)
    if (column)
      if (llvm::Error error = parseNumber(row, *column, *number))
        return error;
  if (gaps)
    if (llvm::Error error =
            parseGaps(row, unquote(row.fields[*gaps]), buffer.gaps))
      return error;
  buffers.push_back(std::move(buffer));
  if (offsets)
    offsets->push_back(at);
  return llvm::Error::success();
}

/// begin-end or begin-end@lower:upper, with blanks between them.
llvm::Error Table::parseGaps(const Row &row, llvm::StringRef cell,
                             std::vector<Gap> &result) {
  llvm::SmallVector<llvm::StringRef> parts;
  cell.split(parts, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    llvm::StringRef rest = part;
    Gap gap;
    bool isWrong = rest.consumeInteger(10, gap.begin) ||
                   !rest.consume_front("-") || rest.consumeInteger(10, gap.end);
    if (!isWrong && rest.consume_front("@"))
      isWrong = rest.consumeInteger(10, gap.lower) ||
                !rest.consume_front(":") || rest.consumeInteger(10, gap.upper);
    if (isWrong || !rest.empty())
      return makeErrorAt(row.line, "expected a gap like 3-5 or 3-5@0:64, but "
                                   "got " +
                                       quoted(part));
    result.push_back(gap);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void Table::print(llvm::raw_ostream &os,
                  const std::vector<int64_t> *newOffsets) const {
  auto printRow = [&](const Row &row, const llvm::Twine &last) {
    for (size_t i = 0; i < row.fields.size(); ++i) {
      os << (i == 0 ? "" : ",");
      if (newOffsets && offset == i)
        os << last;
      else
        os << row.fields[i];
    }
    if (newOffsets && !offset)
      os << "," << last;
    os << "\n";
  };
  printRow(header, "offset");
  for (size_t i = 0; i < rows.size(); ++i)
    printRow(rows[i], llvm::Twine(newOffsets ? (*newOffsets)[i] : 0));
}

std::string Table::explain(const std::string &message) const {
  std::string result;
  std::optional<size_t> first;
  llvm::StringRef rest = message;
  while (!rest.empty()) {
    bool isOne = rest.starts_with("buffer ");
    if (!isOne && !rest.starts_with("buffers ")) {
      result += rest.front();
      rest = rest.drop_front();
      continue;
    }
    llvm::StringRef noun = rest.take_front(isOne ? 7 : 8);
    result += noun;
    rest = rest.drop_front(noun.size());
    size_t index;
    do {
      if (rest.consumeInteger(10, index) || index >= rows.size())
        break;
      result += quoted(unquote(rows[index].fields[id]));
      if (!first)
        first = index;
      if (isOne || !rest.consume_front(" and "))
        break;
      result += " and ";
    } while (true);
  }
  std::string place = getName().str();
  if (first)
    place += ":" + std::to_string(rows[*first].line);
  return place + ": " + result;
}
