//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Picture.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ConvertUTF.h"
#include <cstdlib>

using llvm::StringRef;

double Element::number(const std::string &attribute) const {
  return std::strtod(attributes.at(attribute).c_str(), nullptr);
}

bool Element::hasClass(const std::string &wanted) const {
  auto found = attributes.find("class");
  if (found == attributes.end())
    return false;
  return (" " + found->second + " ").find(" " + wanted + " ") !=
         std::string::npos;
}

const Element *Element::find(const std::string &wanted) const {
  for (const Element &child : children)
    if (child.name == wanted)
      return &child;
  return nullptr;
}

std::vector<const Element *> Element::all() const {
  std::vector<const Element *> result = {this};
  for (const Element &child : children)
    for (const Element *element : child.all())
      result.push_back(element);
  return result;
}

/// Whether XML allows all of the text, which is UTF-8.
static bool isAllowed(StringRef text) {
  for (unsigned char c : text)
    if ((c < ' ' && c != '\n' && c != '\t' && c != '\r') || c == 0x7f)
      return false;
  return text.find("\xef\xbf\xbe") == StringRef::npos &&
         text.find("\xef\xbf\xbf") == StringRef::npos;
}

static bool unescape(StringRef text, std::string &result) {
  while (!text.empty()) {
    if (text.front() == '<')
      return false;
    if (text.front() != '&') {
      result += text.front();
      text = text.drop_front();
      continue;
    }
    if (text.consume_front("&lt;"))
      result += '<';
    else if (text.consume_front("&gt;"))
      result += '>';
    else if (text.consume_front("&amp;"))
      result += '&';
    else if (text.consume_front("&quot;"))
      result += '"';
    else
      return false;
  }
  return true;
}

static bool isNameLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-';
}

static bool parseAttributes(StringRef &rest, Element &element) {
  while (rest.consume_front(" ")) {
    StringRef name = rest.take_while(isNameLetter);
    rest = rest.drop_front(name.size());
    if (name.empty() || !rest.consume_front("=\""))
      return false;
    size_t end = rest.find('"');
    if (end == StringRef::npos ||
        !unescape(rest.take_front(end), element.attributes[name.str()]))
      return false;
    rest = rest.drop_front(end + 1);
  }
  return true;
}

static bool parseElement(StringRef &rest, Element &element) {
  if (!rest.consume_front("<"))
    return false;
  element.name = rest.take_while(isNameLetter).str();
  rest = rest.drop_front(element.name.size());
  if (element.name.empty() || !parseAttributes(rest, element))
    return false;
  if (rest.consume_front("/>"))
    return true;
  if (!rest.consume_front(">"))
    return false;
  while (true) {
    size_t end = rest.find('<');
    if (end == StringRef::npos || !unescape(rest.take_front(end), element.text))
      return false;
    rest = rest.drop_front(end);
    if (rest.consume_front("</"))
      return rest.consume_front(element.name) && rest.consume_front(">");
    if (!parseElement(rest, element.children.emplace_back()))
      return false;
  }
}

std::optional<Element> parseXml(const std::string &text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  if (!llvm::isLegalUTF8String(&begin, begin + text.size()) || !isAllowed(text))
    return std::nullopt;
  Element root;
  StringRef rest = text;
  if (!parseElement(rest, root) || !rest.trim().empty())
    return std::nullopt;
  return root;
}
