//===- NpyHostileTest.cpp - Bytes that are no .npy file -------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include "Random.h"
#include "TestSupport.h"

using namespace llvm;
using namespace pol_run;

static std::string makeFile(StringRef header, StringRef data) {
  std::string file("\x93NUMPY\x01\0", 8);
  file += {static_cast<char>(header.size() & 255),
           static_cast<char>(header.size() >> 8)};
  return file + header.str() + data.str();
}

/// The error for a file with this header and four bytes of data, without the
/// name; "success" for none.
static std::string messageFor(StringRef header) {
  std::string message =
      messageOf(parseNpy(makeFile(header, StringRef("\0\0\0\0", 4)), "a.npy"));
  StringRef text = message;
  text.consume_front("'a.npy': ");
  return text.str();
}

/// The same for a good header but for one value.
static std::string messageForShape(StringRef shape) {
  return messageFor(
      ("{'descr': '|i1', 'fortran_order': False, 'shape': " + shape + "}\n")
          .str());
}
static std::string messageForDescr(StringRef descr) {
  return messageFor(
      ("{'descr': " + descr + ", 'fortran_order': False, 'shape': (4,)}\n")
          .str());
}

using Case = std::pair<StringRef, StringRef>;

TEST(NpyHostileTest, AcceptedSpellings) {
  for (StringRef header :
       {"{'descr':'|i1','fortran_order':False,'shape':(4,)}",
        "  { 'shape' : ( 4 , ) , 'fortran_order' : False , 'descr' : '|i1' }",
        "{\"descr\": \"|i1\", \"fortran_order\": True, \"shape\": (4,),}\n",
        "{\n'descr': '<f4', 'fortran_order':\tFalse, 'shape': ()}\r\n"})
    EXPECT_EQ(messageFor(header), "success") << header.str();
  for (StringRef shape : {"(4,)", "(4,1)", "(2, 2,)", "( 2 ,2 )", "(4L,)",
                          "(2L, 2L)", "(1, 1, 1, 4)"})
    EXPECT_EQ(messageForShape(shape), "success") << shape.str();
}

static const Case hostileHeaders[] = {
    {"", "expected a dictionary in the header, but got the end of the header"},
    {"   \n",
     "expected a dictionary in the header, but got the end of the header"},
    {"[1, 2]", "expected a dictionary in the header, but got '[1, 2]'"},
    {"None", "expected a dictionary in the header, but got 'None'"},
    {"\xff\xfe\x80",
     "expected a dictionary in the header, but got '\\xff\\xfe\\x80'"},
    {StringRef("\0\0\0", 3),
     "expected a dictionary in the header, but got '\\x00\\x00\\x00'"},
    {"{", "expected a key in the header, but got the end of the header"},
    {"{}", "expected the key 'descr' in the header, but got none"},
    {"{,}", "expected a key in the header, but got ',}'"},
    {"{{}}", "expected a key in the header, but got '{}}'"},
    {"{1: 2}", "expected a key in the header, but got '1: 2}'"},
    {"{b'descr': '|i1'}", "expected a key in the header, but got 'b'descr': "
                          "'|i1'}'"},
    {"{'descr", "expected a closing quote in the header, but got ''descr'"},
    {"{'descr\": '|i1'", "expected the key 'descr', 'fortran_order' or 'shape' "
                         "in the header, but got ''descr\": '|i1''"},
    {"{'descr'}", "expected ':' in the header, but got '}'"},
    {"{'descr' '|i1'}", "expected ':' in the header, but got ''|i1'}'"},
    {"{'descr':", "expected an element type in the header, but got the end of "
                  "the header"},
    {"{'descr': '|i1'", "expected ',' or '}' in the header, but got the end of "
                        "the header"},
    {"{'descr': '|i1';", "expected ',' or '}' in the header, but got ';'"},
    {"{'descr': '|i1',, 'shape': (4,)}",
     "expected a key in the header, but got ', 'shape': (4,)}'"},
    {"{'descr': '|i1'}",
     "expected the key 'fortran_order' in the header, but got none"},
    {"{'descr': '|i1', 'fortran_order': False}",
     "expected the key 'shape' in the header, but got none"},
    {"{'fortran_order': False, 'shape': (4,)}",
     "expected the key 'descr' in the header, but got none"},
    {"{'descr': '|i1', 'descr': '|i1'}",
     "expected the key 'descr' once in the header, but got it twice"},
    {"{'shape': (4,), 'shape': (4,)}",
     "expected the key 'shape' once in the header, but got it twice"},
    {"{'order': 'C'}", "expected the key 'descr', 'fortran_order' or 'shape' "
                       "in the header, but got ''order': 'C'}'"},
    {"{'': 1}", "expected the key 'descr', 'fortran_order' or 'shape' in the "
                "header, but got ''': 1}'"},
    {"{'de\\x73cr': '|i1'}", "expected a key of plain text in the header, but "
                             "got ''de\\x73cr': '|i1'}'"},
    {"{'d\xc3\xa9scr': 1}", "expected a key of plain text in the header, but "
                            "got ''d\\xc3\\xa9scr': 1}'"},
    {"{'descr': '|i1', 'fortran_order': False, 'shape': (4,)} x",
     "expected nothing after the dictionary in the header, but got 'x'"},
    {"{'descr': '|i1', 'fortran_order': False, 'shape': (4,)}}",
     "expected nothing after the dictionary in the header, but got '}'"},
    {StringRef("{'descr': '|i1', 'fortran_order': False, 'shape': (4,)}\0", 56),
     "expected nothing after the dictionary in the header, but got '\\x00'"},
    {"{'fortran_order': 0}",
     "expected True or False in the header, but got '0}'"},
    {"{'fortran_order': true}",
     "expected True or False in the header, but got 'true}'"},
    {"{'fortran_order': Trueish}",
     "expected True or False in the header, but got 'Trueish}'"},
    {"{'fortran_order': False_}",
     "expected True or False in the header, but got 'False_}'"},
    {"{'fortran_order': 'True'}",
     "expected True or False in the header, but got ''True'}'"},
    {"{'fortran_order': ",
     "expected True or False in the header, but got the end of the header"},
};

static const Case hostileShapes[] = {
    {"4", "expected a tuple of dimensions in the header, but got '4}\\x0a'"},
    {"[4]",
     "expected a tuple of dimensions in the header, but got '[4]}\\x0a'"},
    {"None",
     "expected a tuple of dimensions in the header, but got 'None}\\x0a'"},
    {"(4)", "expected a tuple of dimensions in the header, but got the number "
            "'(4)'"},
    {"(4", "expected a dimension in the header, but got '4}\\x0a'"},
    {"(4 ", "expected ',' or ')' in the header, but got '}\\x0a'"},
    {"(4,", "expected a dimension in the header, but got '}\\x0a'"},
    {"(", "expected a dimension in the header, but got '}\\x0a'"},
    {"(,)", "expected a dimension in the header, but got ',)}\\x0a'"},
    {"(4,,)", "expected a dimension in the header, but got ',)}\\x0a'"},
    {"(2 2)", "expected ',' or ')' in the header, but got '2)}\\x0a'"},
    {"((4,),)", "expected a dimension in the header, but got '(4,),)}\\x0a'"},
    {"((((((((((((((((((((((((((((((4))))",
     "expected a dimension in the header, but got "
     "'((((((((((((((((((((((((...'"},
    {"(-1,)",
     "expected a non-negative dimension in the header, but got '-1,)}\\x0a'"},
    {"(2, -2)",
     "expected a non-negative dimension in the header, but got '-2)}\\x0a'"},
    {"(4.0,)", "expected a dimension in the header, but got '4.0,)}\\x0a'"},
    {"(4e0,)", "expected a dimension in the header, but got '4e0,)}\\x0a'"},
    {"(0x4,)", "expected a dimension in the header, but got '0x4,)}\\x0a'"},
    {"(04,)", "expected a dimension without leading zeros in the header, but "
              "got '04,)}\\x0a'"},
    {"(4LL,)", "expected a dimension in the header, but got '4LL,)}\\x0a'"},
    {"(4l,)", "expected a dimension in the header, but got '4l,)}\\x0a'"},
    {"(1_0,)", "expected a dimension in the header, but got '1_0,)}\\x0a'"},
    {"(+4,)", "expected a dimension in the header, but got '+4,)}\\x0a'"},
    {"(True,)", "expected a dimension in the header, but got 'True,)}\\x0a'"},
    {"('4',)", "expected a dimension in the header, but got ''4',)}\\x0a'"},
    {"(2*2,)", "expected a dimension in the header, but got '2*2,)}\\x0a'"},
    {"(\xd9\xa4,)",
     "expected a dimension in the header, but got '\\xd9\\xa4,)}\\x0a'"},
    {"(9223372036854775808,)", "expected a dimension below 2^63 in the header, "
                               "but got '9223372036854775808,)}\\x0a'"},
    {"(99999999999999999999999999,)",
     "expected a dimension below 2^63 in the header, but got "
     "'999999999999999999999999...'"},
    {"(4611686018427387904, 2)",
     "expected an array of less than 2^63 bytes, but got "
     "'4611686018427387904x2xi8'"},
    {"(0, 4611686018427387904, 4)",
     "expected an array of less than 2^63 bytes, but got "
     "'0x4611686018427387904x4xi8'"},
    {"(9223372036854775807,)", "expected 9223372036854775807 bytes of data for "
                               "'9223372036854775807xi8', but got 4"},
    {"(5,)", "expected 5 bytes of data for '5xi8', but got 4"},
    {"(3,)", "expected 3 bytes of data for '3xi8', but got 4"},
    {"()", "expected 1 bytes of data for 'i8', but got 4"},
    {"(0,)", "expected 0 bytes of data for '0xi8', but got 4"},
    {"(0, 1000000)", "expected 0 bytes of data for '0x1000000xi8', but got 4"},
};

static const Case hostileDescrs[] = {
    {"'|O'",
     "expected elements that are numbers, but got python objects, '|O'"},
    {"'|O8'",
     "expected elements that are numbers, but got python objects, '|O8'"},
    {"'>f4'", "expected little-endian elements, but got big-endian '>f4'"},
    {"'>V2'", "expected little-endian elements, but got big-endian '>V2'"},
    {"[('a', '<f4')]",
     "expected a plain element type, not a structured one, in the header, but "
     "got '[('a', '<f4')], 'fortran...'"},
    {"('<f4', (2,))",
     "expected a plain element type, not a structured one, in the header, but "
     "got '('<f4', (2,)), 'fortran_...'"},
    {"None", "expected an element type in the header, but got 'None, "
             "'fortran_order': F...'"},
    {"''", "expected an element type that starts with '<', '|' or '=', but got "
           "''"},
    {"'f4'", "expected an element type that starts with '<', '|' or '=', but "
             "got 'f4'"},
    {"'float32'", "expected an element type that starts with '<', '|' or '=', "
                  "but got 'float32'"},
    {"'<\xff'", "expected an element type of plain text in the header, but got "
                "''<\\xff', 'fortran_order': F...'"},
};

static constexpr StringRef unknownDescrs[] = {
    "<",    "<f",   "<f1",   "<f3",  "<f16",    "<c8",  "<i3",        "<i16",
    "|b",   "|b2",  "<b8",   "|V1",  "|V4",     "<U1",  "|S4",        "|a4",
    "<M8",  "<m8",  "<<f4",  "<f4 ", "<f 4",    "<f04", "<f4,<f4",    "<F4",
    "<i-1", "<f2x", "<i4i4", "|",    "<M8[ns]", "=g",   "<f99999999", "|t1"};

TEST(NpyHostileTest, HostileHeaders) {
  for (auto [header, message] : hostileHeaders)
    EXPECT_EQ(messageFor(header), message.str()) << header.str();
  for (auto [shape, message] : hostileShapes)
    EXPECT_EQ(messageForShape(shape), message.str()) << shape.str();
  for (auto [descr, message] : hostileDescrs)
    EXPECT_EQ(messageForDescr(descr), message.str()) << descr.str();
  for (StringRef descr : unknownDescrs)
    EXPECT_EQ(messageForDescr(("'" + descr + "'").str()),
              "expected an element type of f2, f4, f8, V2 (bf16), b1, i1 to i8 "
              "or u1 to u8, but got '" +
                  descr.str() + "'");
}

TEST(NpyHostileTest, DeepAndLongHeaders) {
  for (StringRef piece : {"(", "[", "{", "{'shape': (", "1,", "'", "\\", "-"}) {
    std::string text;
    while (text.size() < 60000)
      text += piece;
    EXPECT_TRUE(isOneLine(messageFor(text)));
    EXPECT_TRUE(isOneLine(messageForShape("(" + text)));
  }
  std::string ones;
  for (int i = 0; i < 64; ++i)
    ones += "1,";
  EXPECT_EQ(
      messageForShape("(" + ones + ")"), "expected 1 bytes of data for '" + [] {
        std::string type;
        for (int i = 0; i < 64; ++i)
          type += "1x";
        return type + "i8";
      }() + "', but got 4");
  EXPECT_EQ(messageForShape("(" + ones + "1)"),
            "expected at most 64 dimensions in the header, but got '1)}\\x0a'");
}

static const Case hostileFiles[] = {
    {"", "expected a .npy file, which starts with '\\x93NUMPY', but got an "
         "empty file"},
    {"\x93NUM", "expected a .npy file, which starts with '\\x93NUMPY', but got "
                "'\\x93NUM'"},
    {"PK\3\4\0\0\0\0\0", "expected a .npy file, which starts with "
                         "'\\x93NUMPY', but got 'PK\\x03\\x04'"},
    {"\x93numpy\1", "expected a .npy file, which starts with '\\x93NUMPY', but "
                    "got '\\x93numpy'"},
    {"\x93NUMPY", "expected a format version, but got the end of the file"},
    {"\x93NUMPY\1", "expected a format version, but got the end of the file"},
    {StringRef("\x93NUMPY\0\1\0\0", 10),
     "expected format version 1.0, 2.0 or 3.0, but got 0.1"},
    {StringRef("\x93NUMPY\1\1\0\0", 10),
     "expected format version 1.0, 2.0 or 3.0, but got 1.1"},
    {StringRef("\x93NUMPY\4\0\0\0", 10),
     "expected format version 1.0, 2.0 or 3.0, but got 4.0"},
    {"\x93NUMPY\xff\xff",
     "expected format version 1.0, 2.0 or 3.0, but got 255.255"},
    {StringRef("\x93NUMPY\1\0", 8),
     "expected the size of the header, but got the end of the file"},
    {StringRef("\x93NUMPY\1\0\5", 9),
     "expected the size of the header, but got the end of the file"},
    {StringRef("\x93NUMPY\2\0\0\0\0", 11),
     "expected the size of the header, but got the end of the file"},
    {StringRef("\x93NUMPY\1\0\1\0", 10),
     "expected a header of 1 bytes, but got 0"},
    {StringRef("\x93NUMPY\1\0\xff\xff{}", 12),
     "expected a header of 65535 bytes, but got 2"},
    {StringRef("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14),
     "expected a header of 4294967295 bytes, but got 2"},
    {StringRef("\x93NUMPY\3\0\0\0\0\0", 12),
     "expected a dictionary in the header, but got the end of the header"},
};

TEST(NpyHostileTest, HostileFiles) {
  for (auto [file, message] : hostileFiles)
    EXPECT_EQ(messageOf(parseNpy(file, "a.npy")), "'a.npy': " + message.str());
  std::string large("\x93NUMPY\2\0\1\0\1\0", 12);
  large.append(70000, ' ');
  EXPECT_EQ(messageOf(parseNpy(large, "a")),
            "'a': expected a header of at most 65536 bytes, but got 65537");
}

TEST(NpyHostileTest, EveryTruncation) {
  for (StringRef order : {"False", "True"}) {
    std::string file = makeFile(("{'descr': '<i2', 'fortran_order': " + order +
                                 ", 'shape': (2, 3), }              \n")
                                    .str(),
                                "abcdefghijkl");
    EXPECT_EQ(messageOf(parseNpy(file, "a")), "success");
    for (size_t size = 0; size < file.size(); ++size) {
      // On the heap at its very size, where ASan sees any read beyond it.
      std::string start(file, 0, size);
      start.shrink_to_fit();
      std::string message = messageOf(parseNpy(start, "a"));
      EXPECT_NE(message, "success");
      EXPECT_TRUE(isOneLine(message)) << message;
    }
    EXPECT_EQ(messageOf(parseNpy(file + "x", "a")),
              "'a': expected 12 bytes of data for '2x3xi16', but got 13");
  }
}

TEST(NpyHostileTest, ChangedBytes) {
  std::string good = makeFile(
      "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }    \n",
      "abcdefghijkl");
  Random random(2024);
  unsigned accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string file = good;
    // One to three bytes; half of them letters of the header's own language.
    for (uint64_t n = 1 + random.next() % 3; n > 0; --n) {
      static constexpr StringRef letters = "{}()[]',: 0123456789LTF<>|=fiubVO-";
      uint64_t at = random.next() % (file.size() - 12);
      uint64_t value = random.next();
      file[at] = value >> 63 ? letters[value % letters.size()]
                             : static_cast<char>(value);
    }
    Expected<Array> array = parseNpy(file, "a");
    if (array) {
      ++accepted;
      EXPECT_EQ(array->getByteSize(), 12);
      continue;
    }
    std::string message = toString(array.takeError());
    ASSERT_TRUE(isOneLine(message)) << message;
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, 10000u);
}
