//===- NpyTest.cpp - NumPy's .npy files -----------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include "InputSpec.h"
#include "TestSupport.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace pol_run;

namespace {
/// A fresh directory, removed at the end.
class NpyTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("pol-run-npy", directory));
  }
  void TearDown() override { sys::fs::remove_directories(directory); }

  std::string pathTo(StringRef name) const {
    SmallString<128> path = directory;
    sys::path::append(path, name);
    return path.str().str();
  }
  std::string put(StringRef name, StringRef contents) const {
    std::string path = pathTo(name);
    std::error_code code;
    raw_fd_ostream stream(path, code);
    stream << contents;
    return path;
  }
  size_t countFiles() const {
    std::error_code code;
    size_t count = 0;
    for (sys::fs::directory_iterator i(directory, code), e; i != e && !code;
         i.increment(code))
      ++count;
    return count;
  }

  SmallString<128> directory;
};
} // namespace

static std::string slurp(StringRef path) {
  return (*cantFail(errorOrToExpected(MemoryBuffer::getFile(path))))
      .getBuffer()
      .str();
}

/// A version 1.0 file, its header padded to 118 bytes as numpy.save does for
/// every short shape.
static std::string makeFile(StringRef dictionary, StringRef data) {
  std::string file("\x93NUMPY\x01\0v\0", 10);
  file += dictionary;
  file.append(117 - dictionary.size(), ' ');
  return file + "\n" + data.str();
}

static StringRef bytesOf(const Array &array) {
  return {array.data(), static_cast<size_t>(array.getByteSize())};
}

/// What numpy.save (2.4.6) writes for small arrays.
TEST_F(NpyTest, WritesWhatNumPyWrites) {
  struct Case {
    StringRef spec, dictionary, data;
  };
  for (auto [spec, dictionary, data] : {
           Case{"3xbf16=iota",
                "{'descr': '<V2', 'fortran_order': False, 'shape': (3,), }",
                StringRef("\0\0\x80\x3f\0\x40", 6)},
           Case{"f64=3.5",
                "{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
                StringRef("\0\0\0\0\0\0\x0c\x40", 8)},
           Case{"1xi1=ones",
                "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }",
                StringRef("\x01", 1)},
           Case{"0x3xf64=zeros",
                "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }",
                ""},
           Case{"2xi32=iota",
                "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }",
                StringRef("\0\0\0\0\1\0\0\0", 8)},
           Case{"1x2xf16=const:-2",
                "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2), }",
                StringRef("\0\xc0\0\xc0", 4)},
       }) {
    Array array = get(loadInput(spec));
    std::string path = pathTo("out.npy");
    EXPECT_EQ(messageOf(writeNpy(path, array)), "success");
    std::string contents = slurp(path);
    EXPECT_EQ(contents, makeFile(dictionary, data)) << spec.str();
    EXPECT_EQ(contents.size(), 128 + data.size());
    EXPECT_EQ(bytesOf(get(readNpy(path))), data);
  }
}

TEST_F(NpyTest, RoundTrips) {
  for (StringRef dtype :
       {"f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64"})
    for (StringRef shape : {"", "1x", "0x", "17x", "3x0x2x", "2x3x4x5x"}) {
      std::string path = pathTo("a.npy");
      std::string spec = (shape + dtype + "=random:5").str();
      Array array = get(loadInput(spec));
      ASSERT_EQ(messageOf(writeNpy(path, array)), "success");
      EXPECT_EQ(slurp(path).size() % 64, array.getByteSize() % 64u);
      Array back = get(loadInput(path));
      EXPECT_EQ(back.getTypeString(), array.getTypeString());
      EXPECT_EQ(bytesOf(back), bytesOf(array)) << spec;
    }
}

TEST_F(NpyTest, HeadersOfEveryRank) {
  std::string type = "f32=ones";
  for (size_t rank = 0; rank <= Array::maxRank; ++rank, type = "1x" + type) {
    std::string path = pathTo("a.npy");
    Array array = get(loadInput(type));
    ASSERT_EQ(messageOf(writeNpy(path, array)), "success");
    EXPECT_EQ(slurp(path).size() % 64, 4u);
    EXPECT_EQ(get(readNpy(path)).getShape(), array.getShape());
  }
}

TEST_F(NpyTest, FortranOrderBecomesCOrder) {
  Array matrix = get(parseNpy(
      makeFile("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }",
               StringRef("\0\3\1\4\2\5", 6)),
      "a"));
  EXPECT_EQ(matrix.getTypeString(), "2x3xi8");
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(matrix.getInt(i), i);

  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        data += {static_cast<char>(i * 12 + j * 4 + k), 0};
  Array cube = get(parseNpy(
      makeFile("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4), }",
               data),
      "a"));
  for (int i = 0; i < 24; ++i)
    EXPECT_EQ(cube.getInt(i), i);

  for (StringRef shape : {"(3,)", "(1, 3)", "(3, 1)"}) {
    Array line = get(parseNpy(makeFile(("{'descr': '|i1', 'fortran_order': "
                                        "True, 'shape': " +
                                        shape + "}")
                                           .str(),
                                       StringRef("\0\1\2", 3)),
                              "a"));
    EXPECT_EQ(bytesOf(line), StringRef("\0\1\2", 3));
  }
  Array empty = get(parseNpy(
      makeFile("{'descr': '|i1', 'fortran_order': True, 'shape': (3, 0), }",
               ""),
      "a"));
  EXPECT_EQ(empty.getTypeString(), "3x0xi8");
  Array scalar = get(parseNpy(
      makeFile("{'descr': '|i1', 'fortran_order': True, 'shape': (), }", "\7"),
      "a"));
  EXPECT_EQ(scalar.getInt(0), 7);
}

TEST_F(NpyTest, ElementTypes) {
  for (auto [descr, type] : {std::pair("<f2", "1xf16"),
                             {"<f4", "1xf32"},
                             {"=f8", "1xf64"},
                             {"|b1", "1xi1"},
                             {"|i1", "1xi8"},
                             {"<i1", "1xi8"},
                             {"|u1", "1xi8"},
                             {"<u2", "1xi16"},
                             {"<u4", "1xi32"},
                             {"<u8", "1xi64"},
                             {"<V2", "1xbf16"},
                             {"|V2", "1xbf16"}}) {
    std::string dictionary = std::string("{'descr': '") + descr +
                             "', 'fortran_order': False, 'shape': (1,)}";
    std::string data(descr[2] - '0', '\xff');
    Array array = get(parseNpy(makeFile(dictionary, data), "a"));
    EXPECT_EQ(array.getTypeString(), type);
  }
  std::string file = makeFile(
      "{'descr': '<u2', 'fortran_order': False, 'shape': (1,)}", "\x80\x3f");
  NpyReadOptions options;
  options.u2IsBF16 = true;
  EXPECT_EQ(get(parseNpy(file, "a", options)).getTypeString(), "1xbf16");
  EXPECT_EQ(get(parseNpy(file, "a", options)).getDouble(0), 1);
  // Any byte but zero is true, and is 1 in memory.
  EXPECT_EQ(
      bytesOf(get(parseNpy(
          makeFile("{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}",
                   StringRef("\0\1\2\xff", 4)),
          "a"))),
      StringRef("\0\1\1\1", 4));
}

TEST_F(NpyTest, Versions) {
  StringRef dictionary =
      "{'descr': '|i1', 'fortran_order': False, 'shape': (2,)}";
  for (char version : {2, 3}) {
    std::string file("\x93NUMPY");
    file += {version, 0, static_cast<char>(dictionary.size()), 0, 0, 0};
    file += dictionary;
    Array array = get(parseNpy(file + "\5\6", "a"));
    EXPECT_EQ(bytesOf(array), "\5\6");
  }
}

TEST_F(NpyTest, FailuresNameThePath) {
  Array array = get(loadInput("2xf32=ones"));
  std::string missing = pathTo("missing/a.npy");
  EXPECT_EQ(messageOf(readNpy(missing)),
            "cannot read '" + missing + "': No such file or directory");
  EXPECT_EQ(messageOf(writeNpy(missing, array)),
            "cannot write '" + missing + "': No such file or directory");
  std::string here = directory.str().str();
  EXPECT_EQ(messageOf(readNpy(here)),
            "cannot read '" + here + "': Is a directory");
  EXPECT_EQ(messageOf(writeNpy(here, array)),
            "cannot write '" + here + "': Is a directory");
  EXPECT_NE(messageOf(readNpy("")), "success");
  EXPECT_NE(messageOf(writeNpy("", array)), "success");
  std::string empty = put("empty\n.npy", "");
  EXPECT_TRUE(StringRef(messageOf(readNpy(empty)))
                  .ends_with("empty\\x0a.npy': expected a .npy file, which "
                             "starts with '\\x93NUMPY', but got an empty "
                             "file"));
}

TEST_F(NpyTest, WritesAllOrNothing) {
  Array array = get(loadInput("2xf32=ones"));
  Array other = get(loadInput("100xi8=iota"));
  // '%' has a meaning in LLVM's names of temporary files.
  std::string path = pathTo("100%-%%%%.npy");
  ASSERT_EQ(messageOf(writeNpy(path, array)), "success");
  ASSERT_EQ(messageOf(writeNpy(path, other)), "success");
  EXPECT_EQ(bytesOf(get(readNpy(path))), bytesOf(other));
  EXPECT_EQ(countFiles(), 1u);

  // What a link points to is replaced, and the link stays.
  std::string link = pathTo("link.npy");
  ASSERT_FALSE(sys::fs::create_link(path, link));
  ASSERT_EQ(messageOf(writeNpy(link, array)), "success");
  bool isLink = false;
  ASSERT_FALSE(sys::fs::is_symlink_file(link, isLink));
  EXPECT_TRUE(isLink);
  EXPECT_EQ(bytesOf(get(readNpy(path))), bytesOf(array));
  EXPECT_EQ(countFiles(), 2u);
}

#ifdef __linux__
TEST_F(NpyTest, Devices) {
  Array array = get(loadInput("2xf32=ones"));
  EXPECT_EQ(messageOf(writeNpy("/dev/full", array)),
            "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(messageOf(writeNpy("/dev/null", array)), "success");
  EXPECT_FALSE(sys::fs::is_regular_file("/dev/null"));
  EXPECT_EQ(messageOf(readNpy("/dev/zero")),
            "expected a regular file, but got '/dev/zero'");
}
#endif
