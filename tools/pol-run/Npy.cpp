//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include "Message.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <utility>

using namespace llvm;
using namespace pol_run;

// Elements are copied as they lie in the file.
static_assert(sys::IsLittleEndianHost, "a big-endian host must swap bytes");

static constexpr StringRef magic = "\x93NUMPY";

/// No header of a plain array comes near this; NumPy itself stops at 10000.
static constexpr uint64_t maxHeaderSize = 1 << 16;

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

namespace {

struct Header {
  std::string descr;
  bool fortranOrder = false;
  SmallVector<int64_t> shape;
};

/// Parses the Python dictionary in a header: a small part of Python's literals,
/// and no more of them than numpy.save writes in any of its versions.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  Error parse(Header &header);

private:
  void skipSpace() { rest = rest.ltrim(" \t\r\n\f\v"); }
  /// The next character after spaces, or 0.
  char peek() {
    skipSpace();
    return rest.empty() ? 0 : rest.front();
  }
  bool consume(char c) {
    skipSpace();
    return rest.consume_front(StringRef(&c, 1));
  }
  Error expected(const Twine &what);

  Expected<StringRef> parseString(StringRef what);
  Error parseEntry(Header &header);
  Error parseDescr(std::string &descr);
  Error parseBool(bool &value);
  Error parseShape(SmallVectorImpl<int64_t> &shape);
  Error parseDimension(int64_t &dimension);

  StringRef rest;
  bool seenDescr = false, seenOrder = false, seenShape = false;
};

} // namespace

Error HeaderParser::expected(const Twine &what) {
  skipSpace();
  std::string got = rest.empty() ? "the end of the header" : quoted(rest, 24);
  return makeError("expected " + what + " in the header, but got " + got);
}

Error HeaderParser::parse(Header &header) {
  if (!consume('{'))
    return expected("a dictionary");
  while (!consume('}')) {
    if (Error error = parseEntry(header))
      return error;
    if (!consume(',') && peek() != '}')
      return expected("',' or '}'");
  }
  if (peek() || !rest.empty())
    return expected("nothing after the dictionary");
  for (auto [seen, key] :
       {std::pair(seenDescr, "descr"), std::pair(seenOrder, "fortran_order"),
        std::pair(seenShape, "shape")})
    if (!seen)
      return makeError("expected the key '" + Twine(key) +
                       "' in the header, but got none");
  return Error::success();
}

Expected<StringRef> HeaderParser::parseString(StringRef what) {
  char quote = peek();
  if (quote != '\'' && quote != '"')
    return expected(what);
  size_t end = rest.find(quote, 1);
  if (end == StringRef::npos)
    return expected("a closing quote");
  StringRef value = rest.slice(1, end);
  // Nothing that is read here has an escape, a control character or another
  // script in it.
  if (value.contains('\\') || !all_of(value, isPrint))
    return expected(what + " of plain text");
  rest = rest.drop_front(end + 1);
  return value;
}

Error HeaderParser::parseEntry(Header &header) {
  StringRef before = rest;
  Expected<StringRef> key = parseString("a key");
  if (!key)
    return key.takeError();
  bool *seen = StringSwitch<bool *>(*key)
                   .Case("descr", &seenDescr)
                   .Case("fortran_order", &seenOrder)
                   .Case("shape", &seenShape)
                   .Default(nullptr);
  if (!seen) {
    rest = before;
    return expected("the key 'descr', 'fortran_order' or 'shape'");
  }
  if (std::exchange(*seen, true))
    return makeError("expected the key '" + *key +
                     "' once in the header, but got it twice");
  if (!consume(':'))
    return expected("':'");
  if (seen == &seenDescr)
    return parseDescr(header.descr);
  if (seen == &seenOrder)
    return parseBool(header.fortranOrder);
  return parseShape(header.shape);
}

Error HeaderParser::parseDescr(std::string &descr) {
  if (peek() == '[' || peek() == '(')
    return expected("a plain element type, not a structured one,");
  Expected<StringRef> text = parseString("an element type");
  if (!text)
    return text.takeError();
  descr = text->str();
  return Error::success();
}

Error HeaderParser::parseBool(bool &value) {
  skipSpace();
  value = rest.starts_with("True");
  size_t length = value ? 4 : 5;
  if (!value && !rest.starts_with("False"))
    return expected("True or False");
  if (rest.size() > length && (isAlnum(rest[length]) || rest[length] == '_'))
    return expected("True or False");
  rest = rest.drop_front(length);
  return Error::success();
}

Error HeaderParser::parseShape(SmallVectorImpl<int64_t> &shape) {
  if (!consume('('))
    return expected("a tuple of dimensions");
  bool comma = true;
  while (!consume(')')) {
    if (!comma)
      return expected("',' or ')'");
    if (shape.size() == Array::maxRank)
      return expected("at most " + Twine(Array::maxRank) + " dimensions");
    if (Error error = parseDimension(shape.emplace_back()))
      return error;
    comma = consume(',');
  }
  // As in Python, (3) is a number and only (3,) is a tuple.
  if (shape.size() == 1 && !comma)
    return makeError("expected a tuple of dimensions in the header, but got "
                     "the number '(" +
                     Twine(shape.front()) + ")'");
  return Error::success();
}

Error HeaderParser::parseDimension(int64_t &dimension) {
  skipSpace();
  if (rest.starts_with("-"))
    return expected("a non-negative dimension");
  StringRef digits = rest.take_while(isDigit);
  if (digits.empty())
    return expected("a dimension");
  if (digits.size() > 1 && digits.front() == '0')
    return expected("a dimension without leading zeros");
  if (digits.getAsInteger(10, dimension))
    return expected("a dimension below 2^63");
  StringRef after = rest.drop_front(digits.size());
  // Python 2 wrote its long integers so.
  after.consume_front("L");
  if (!after.empty() && !StringRef(" \t\r\n\f\v,)").contains(after.front()))
    return expected("a dimension");
  rest = after;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static Expected<DType> parseDescr(StringRef descr,
                                  const NpyReadOptions &options) {
  StringRef type = descr;
  if (type.consume_front(">"))
    return makeError("expected little-endian elements, but got big-endian " +
                     quoted(descr));
  if (!type.consume_front("<") && !type.consume_front("|") &&
      !type.consume_front("="))
    return makeError("expected an element type that starts with '<', '|' or "
                     "'=', but got " +
                     quoted(descr));
  if (type.starts_with("O"))
    return makeError("expected elements that are numbers, but got python "
                     "objects, " +
                     quoted(descr));
  if (type == "u2" && options.u2IsBF16)
    return DType::BF16;
  std::optional<DType> dtype = StringSwitch<std::optional<DType>>(type)
                                   .Case("f2", DType::F16)
                                   .Case("V2", DType::BF16)
                                   .Case("f4", DType::F32)
                                   .Case("f8", DType::F64)
                                   .Case("b1", DType::I1)
                                   .Cases({"i1", "u1"}, DType::I8)
                                   .Cases({"i2", "u2"}, DType::I16)
                                   .Cases({"i4", "u4"}, DType::I32)
                                   .Cases({"i8", "u8"}, DType::I64)
                                   .Default(std::nullopt);
  if (!dtype)
    return makeError("expected an element type of f2, f4, f8, V2 (bf16), b1, "
                     "i1 to i8 or u1 to u8, but got " +
                     quoted(descr));
  return *dtype;
}

static StringRef getDescr(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return "<f2";
  case DType::BF16:
    return "<V2";
  case DType::F32:
    return "<f4";
  case DType::F64:
    return "<f8";
  case DType::I1:
    return "|b1";
  case DType::I8:
    return "|i1";
  case DType::I16:
    return "<i2";
  case DType::I32:
    return "<i4";
  case DType::I64:
    return "<i8";
  }
  llvm_unreachable("unknown element type");
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Where bytes come from. Files are read piece by piece and not mapped: a file
/// that someone shortens meanwhile must be an error and not a fault.
struct Source {
  uint64_t size;
  /// Fill the buffer from an offset; the range lies within `size`.
  function_ref<Error(uint64_t, MutableArrayRef<char>)> read;
};

} // namespace

/// Read the magic string, the version, the header's size and the header.
/// `offset` becomes where the data start.
static Expected<Header> readHeader(const Source &source, uint64_t &offset) {
  char start[12] = {};
  size_t available = std::min<uint64_t>(source.size, sizeof(start));
  if (Error error = source.read(0, {start, available}))
    return error;
  StringRef prefix(start, available);
  if (!prefix.starts_with(magic))
    return makeError("expected a .npy file, which starts with " +
                     quoted(magic) + ", but got " +
                     (prefix.empty() ? std::string("an empty file")
                                     : quoted(prefix.take_front(6))));
  if (available < 8)
    return makeError("expected a format version, but got the end of the file");
  unsigned major = static_cast<uint8_t>(start[6]);
  unsigned minor = static_cast<uint8_t>(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    return makeError("expected format version 1.0, 2.0 or 3.0, but got " +
                     Twine(major) + "." + Twine(minor));

  offset = major == 1 ? 10 : 12;
  if (source.size < offset)
    return makeError("expected the size of the header, but got the end of the "
                     "file");
  uint64_t size = major == 1 ? support::endian::read16le(start + 8)
                             : support::endian::read32le(start + 8);
  if (size > source.size - offset)
    return makeError("expected a header of " + Twine(size) +
                     " bytes, but got " + Twine(source.size - offset));
  if (size > maxHeaderSize)
    return makeError("expected a header of at most " + Twine(maxHeaderSize) +
                     " bytes, but got " + Twine(size));

  std::string text(size, '\0');
  if (Error error = source.read(offset, {text.data(), text.size()}))
    return error;
  offset += size;
  Header header;
  if (Error error = HeaderParser(text).parse(header))
    return error;
  return header;
}

/// Copy elements that lie in Fortran order, the first dimension fastest, to
/// `array`, which is written in its own order.
static void copyFromFortranOrder(ArrayRef<char> from, Array &array) {
  ArrayRef<int64_t> shape = array.getShape();
  size_t size = getElementSize(array.getDType());
  SmallVector<int64_t> strides, indices(shape.size(), 0);
  int64_t stride = 1;
  for (int64_t dimension : shape) {
    strides.push_back(stride);
    stride *= dimension;
  }
  int64_t position = 0;
  for (int64_t i = 0, e = array.getNumElements(); i < e; ++i) {
    std::memcpy(array.data() + i * size, from.data() + position * size, size);
    for (size_t d = shape.size(); d-- > 0;) {
      position += strides[d];
      if (++indices[d] < shape[d])
        break;
      position -= strides[d] * shape[d];
      indices[d] = 0;
    }
  }
}

static Expected<Array> readArray(const Source &source,
                                 const NpyReadOptions &options) {
  uint64_t offset = 0;
  Expected<Header> header = readHeader(source, offset);
  if (!header)
    return header.takeError();
  Expected<DType> dtype = parseDescr(header->descr, options);
  if (!dtype)
    return dtype.takeError();
  // Before anything is allocated the file must be seen to hold the data.
  Expected<int64_t> size = computeByteSize(*dtype, header->shape);
  if (!size)
    return size.takeError();
  if (static_cast<uint64_t>(*size) != source.size - offset)
    return makeError("expected " + Twine(*size) + " bytes of data for '" +
                     formatType(*dtype, header->shape) + "', but got " +
                     Twine(source.size - offset));

  Expected<Array> array = Array::create(*dtype, header->shape);
  if (!array)
    return array.takeError();
  if (header->fortranOrder && array->getRank() > 1) {
    // A second array rather than a vector, since it fails with a message.
    Expected<Array> raw = Array::create(*dtype, header->shape);
    if (!raw)
      return raw.takeError();
    if (Error error = source.read(offset, raw->bytes()))
      return error;
    copyFromFortranOrder(raw->bytes(), *array);
  } else if (Error error = source.read(offset, array->bytes())) {
    return error;
  }
  // Compiled code takes the other bits of an i1's byte to be zero.
  if (*dtype == DType::I1)
    for (char &byte : array->bytes())
      byte = byte != 0;
  return array;
}

/// Put the file's name before the error's text.
static Expected<Array> withName(StringRef name, Expected<Array> array) {
  if (array)
    return array;
  return makeError(quotedPath(name) + ": " + toString(array.takeError()));
}

Expected<Array> pol_run::parseNpy(StringRef contents, StringRef name,
                                  const NpyReadOptions &options) {
  auto read = [&](uint64_t offset, MutableArrayRef<char> buffer) -> Error {
    if (!buffer.empty())
      std::memcpy(buffer.data(), contents.data() + offset, buffer.size());
    return Error::success();
  };
  return withName(name, readArray({contents.size(), read}, options));
}

static Error makeReadError(StringRef path, std::error_code code) {
  return makeError("cannot read " + quotedPath(path) + ": " + code.message());
}

Expected<Array> pol_run::readNpy(StringRef path,
                                 const NpyReadOptions &options) {
  // Looked at before it is opened: opening a pipe would wait for a writer, and
  // devices have no size.
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return makeReadError(path, code);
  if (status.type() == sys::fs::file_type::directory_file)
    return makeReadError(path, make_error_code(errc::is_a_directory));
  if (status.type() != sys::fs::file_type::regular_file)
    return makeError("expected a regular file, but got " + quotedPath(path));

  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return makeReadError(path, errorToErrorCode(file.takeError()));
  auto read = [&](uint64_t offset, MutableArrayRef<char> buffer) -> Error {
    while (!buffer.empty()) {
      Expected<size_t> count =
          sys::fs::readNativeFileSlice(*file, buffer, offset);
      if (!count)
        return count.takeError();
      if (*count == 0)
        return makeError("expected " + Twine(buffer.size()) +
                         " more bytes, but got the end of the file");
      offset += *count;
      buffer = buffer.drop_front(*count);
    }
    return Error::success();
  };
  std::error_code code = sys::fs::status(*file, status);
  Expected<Array> array =
      code ? Expected<Array>(makeReadError(path, code))
           : withName(path, readArray({status.getSize(), read}, options));
  sys::fs::closeFile(*file);
  return array;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Everything before the data, padded as numpy.save pads it: spaces for the
/// first dimension to grow in place to 21 digits, then to a multiple of 64
/// bytes.
static std::string makePrefix(const Array &array) {
  std::string header = "{'descr': '" + getDescr(array.getDType()).str() +
                       "', 'fortran_order': False, 'shape': (";
  ArrayRef<int64_t> shape = array.getShape();
  for (auto [i, dimension] : enumerate(shape))
    header += (i ? ", " : "") + itostr(dimension);
  header += shape.size() == 1 ? ",), }" : "), }";
  if (!shape.empty())
    header.append(21 - itostr(shape.front()).size(), ' ');
  size_t start = magic.size() + 4;
  header.append(alignTo(start + header.size() + 1, 64) -
                    (start + header.size() + 1),
                ' ');
  header += '\n';

  // The rank's limit keeps every header within 16 bits, so within version 1.0.
  std::string prefix = magic.str();
  prefix += {1, 0, static_cast<char>(header.size() & 255),
             static_cast<char>(header.size() >> 8)};
  return prefix + header;
}

/// Write to an open file and close it.
static std::error_code writeTo(int file, const Array &array) {
  raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream << makePrefix(array);
  stream.write(array.data(), array.getByteSize());
  stream.close();
  std::error_code code = stream.error();
  // The stream's destructor ends the program over an error left in it.
  stream.clear_error();
  return code;
}

static std::error_code writeInPlace(StringRef path, const Array &array) {
  int file;
  if (std::error_code code =
          sys::fs::openFileForWrite(path, file, sys::fs::CD_OpenExisting))
    return code;
  return writeTo(file, array);
}

static std::error_code writeAndRename(StringRef target, const Array &array) {
  // Not LLVM's own temporary files: their names give '%' in a path a meaning.
  std::string temporary;
  int file = -1;
  std::error_code code;
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    temporary = (target + ".tmp-" + Twine(sys::Process::getProcessId()) + "-" +
                 Twine(attempt))
                    .str();
    code = sys::fs::openFileForWrite(temporary, file, sys::fs::CD_CreateNew);
    if (code != errc::file_exists)
      break;
  }
  if (code)
    return code;
  sys::RemoveFileOnSignal(temporary);
  code = writeTo(file, array);
  if (!code)
    code = sys::fs::rename(temporary, target);
  if (code)
    sys::fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
  return code;
}

static std::error_code writeFile(StringRef path, const Array &array) {
  sys::fs::file_status status;
  std::error_code code = sys::fs::status(path, status);
  if (code == errc::no_such_file_or_directory)
    return writeAndRename(path, array);
  if (code)
    return code;
  if (status.type() == sys::fs::file_type::directory_file)
    return make_error_code(errc::is_a_directory);
  // A rename would put a file where /dev/null was.
  if (status.type() != sys::fs::file_type::regular_file)
    return writeInPlace(path, array);
  // Replace what a link points to, not the link.
  SmallString<256> target;
  if (std::error_code code = sys::fs::real_path(path, target))
    return code;
  return writeAndRename(target, array);
}

Error pol_run::writeNpy(StringRef path, const Array &array) {
  if (std::error_code code = writeFile(path, array))
    return makeError("cannot write " + quotedPath(path) + ": " +
                     code.message());
  return Error::success();
}
