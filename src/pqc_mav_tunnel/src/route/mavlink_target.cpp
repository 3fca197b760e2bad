// SPDX-License-Identifier: Apache-2.0
#include "route/mavlink_target.hpp"

#include <algorithm>

namespace pqcmav {
namespace {

struct TargetField {
  std::uint32_t id;
  std::uint8_t at;        // where target_system is in the payload ...
  bool component = true;  // ... and whether target_component is the byte behind it
};

// In order of ids. From MAVLink's definitions ("all.xml"); test_mavlink_targets.py compares them with pymavlink's.
constexpr TargetField kTargets[] = {
    {4, 12},     {5, 0, false},   {11, 4, false},   {20, 2},          {21, 0},          {23, 4},    {37, 4},
    {38, 4},     {39, 32},        {40, 2},          {41, 2},          {43, 0},          {44, 2},    {45, 0},
    {47, 0},     {48, 12, false}, {50, 18},         {51, 2},          {54, 24},         {66, 2},    {70, 16},
    {73, 32},    {75, 30},        {76, 30},         {77, 8},          {82, 36},         {84, 50},   {86, 50},
    {110, 1},    {117, 4},        {119, 10},        {121, 0},         {122, 0},         {123, 0},   {139, 41},
    {151, 6},    {154, 6},        {155, 4},         {156, 0},         {157, 12},        {158, 12},  {160, 8},
    {161, 0},    {175, 14},       {176, 0},         {179, 26, false}, {180, 42, false}, {183, 0},   {184, 4},
    {185, 4},    {186, 0},        {200, 40},        {201, 12},        {214, 6},         {216, 0},   {218, 0},
    {223, 42},   {224, 42},       {243, 52, false}, {248, 3},         {256, 8},         {258, 0},   {266, 2},
    {267, 2},    {268, 2},        {282, 32},        {284, 30},        {285, 38},        {286, 50},  {287, 20},
    {288, 20},   {296, 36},       {320, 2},         {321, 0},         {323, 0},         {345, 2},   {385, 2},
    {386, 4},    {387, 4},        {388, 32},        {420, 6},         {513, 40},        {11000, 4}, {11002, 4},
    {11004, 8},  {11033, 16},     {11035, 4},       {12900, 0},       {12901, 30},      {12902, 4}, {12903, 0},
    {12904, 28}, {12905, 0},      {12915, 0},       {12919, 16},      {50004, 8},       {50005, 4}, {60000, 20},
    {60012, 32}, {60013, 20},     {60014, 4},       {60045, 2},       {60046, 8},
};

constexpr std::size_t kTargetHead1 = 6, kTargetHead2 = 10;

}  // namespace

MavlinkTarget mavlink_target(const MavlinkHeader& header, ByteView frame) noexcept {
  const auto* field = std::lower_bound(std::begin(kTargets), std::end(kTargets), header.id,
                                       [](const TargetField& each, std::uint32_t id) { return each.id < id; });
  if (field == std::end(kTargets) || field->id != header.id) return {};
  const auto payload = frame.subspan(header.version == 2 ? kTargetHead2 : kTargetHead1, frame[1]);
  // Version 2 leaves out zeros at the end: what is not there is 0.
  const auto at = [&](std::size_t offset) { return offset < payload.size() ? payload[offset] : std::uint8_t{0}; };
  return {at(field->at), field->component ? at(std::size_t{field->at} + 1) : std::uint8_t{0}};
}

}  // namespace pqcmav
