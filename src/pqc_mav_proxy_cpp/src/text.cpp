// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>

namespace pqc_mav_proxy_cpp {

std::string one_line(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\v\f";
  std::string out;
  for (std::size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const auto end = text.find_first_of(kSpace, at);
    if (!out.empty()) out += ' ';
    out += text.substr(at, end == std::string_view::npos ? end : end - at);
    at = end == std::string_view::npos ? end : text.find_first_not_of(kSpace, end);
  }
  return out;
}

std::string join(const std::vector<std::string>& texts, std::string_view separator) {
  std::string out;
  for (const auto& text : texts) {
    if (&text != &texts.front()) out += separator;
    out += text;
  }
  return out;
}

std::string python_json(const nlohmann::ordered_json& value) {
  if (!value.is_structured()) return value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  std::vector<std::string> items;
  for (const auto& [key, each] : value.items())
    items.push_back((value.is_object() ? python_json(key) + ": " : "") + python_json(each));
  const auto all = join(items, ", ");
  return value.is_object() ? "{" + all + "}" : "[" + all + "]";
}

std::string key_value_text(const nlohmann::ordered_json& value) {
  if (!value.is_string()) return python_json(value);
  const auto& text = value.get_ref<const std::string&>();
  const bool control = std::any_of(text.begin(), text.end(), [](unsigned char each) { return each < ' '; });
  return control || nlohmann::ordered_json::accept(text) ? python_json(value) : text;
}

}  // namespace pqc_mav_proxy_cpp
