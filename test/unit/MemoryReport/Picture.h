//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What is in a picture, read back from its text.

#ifndef POL_TEST_UNIT_MEMORYREPORT_PICTURE_H
#define POL_TEST_UNIT_MEMORYREPORT_PICTURE_H

#include <map>
#include <optional>
#include <string>
#include <vector>

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text; // of it and not of what is in it, unescaped
  std::vector<Element> children;

  double number(const std::string &attribute) const;
  bool hasClass(const std::string &name) const;
  const Element *find(const std::string &name) const;
  /// It and all that is in it.
  std::vector<const Element *> all() const;
};

/// Reads the XML that pictures are made of: elements, attributes in double
/// quotes, text, and the entities of both. Nothing where it is not well-formed.
std::optional<Element> parseXml(const std::string &text);

#endif // POL_TEST_UNIT_MEMORYREPORT_PICTURE_H
