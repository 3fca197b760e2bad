// SPDX-License-Identifier: Apache-2.0
#include "shape/message_class.hpp"

#include <algorithm>

#include "constants.hpp"
#include "shape/mavlink_walk.hpp"

namespace pqcmav {
namespace {

using Entry = std::pair<std::uint32_t, Treatment>;

constexpr std::uint8_t kParamValue = 22;

constexpr Treatment kCommand{ShapeClass::command, false, false};
constexpr Treatment kAnswer{ShapeClass::command, false, false, false, true};
constexpr Treatment kControl{ShapeClass::command, true, false};  // sticks and set-points: only the newest counts
constexpr Treatment kTransfer{ShapeClass::transfer, false, false};
constexpr Treatment kCorrections{ShapeClass::transfer, false, true};
constexpr Treatment kParameters{ShapeClass::transfer, false, false, true};
constexpr Treatment kFile{ShapeClass::rest, false, false, false, false, true};
constexpr Treatment kStream{ShapeClass::stream, true, false};

struct IdRange {
  std::uint32_t first, last;
  Treatment treatment;
};

constexpr IdRange kRanges[] = {
    {0, 0, kCommand},      // HEARTBEAT
    {4, 4, kCommand},      // PING
    {11, 11, kCommand},    // SET_MODE
    {69, 70, kControl},    // MANUAL_CONTROL, RC_CHANNELS_OVERRIDE
    {75, 76, kCommand},    // COMMAND_INT, COMMAND_LONG
    {77, 77, kAnswer},     // COMMAND_ACK
    {80, 80, kCommand},    // COMMAND_CANCEL
    {82, 82, kControl},    // SET_ATTITUDE_TARGET
    {84, 84, kControl},    // SET_POSITION_TARGET_LOCAL_NED
    {86, 86, kControl},    // SET_POSITION_TARGET_GLOBAL_INT
    {110, 110, kFile},     // FILE_TRANSFER_PROTOCOL
    {111, 111, kCommand},  // TIMESYNC
    {120, 120, kFile},     // LOG_DATA
    {247, 247, kCommand},  // COLLISION
    {253, 253, kCommand},  // STATUSTEXT
    {20, 21, kTransfer},   // parameters asked for
    {kParamValue, kParamValue, kParameters},
    {23, 23, kTransfer},        // PARAM_SET
    {37, 47, kTransfer},        // missions
    {51, 51, kTransfer},        // MISSION_REQUEST_INT
    {66, 66, kTransfer},        // REQUEST_DATA_STREAM
    {73, 73, kTransfer},        // MISSION_ITEM_INT
    {123, 123, kCorrections},   // GPS_INJECT_DATA
    {160, 161, kTransfer},      // fence
    {175, 176, kTransfer},      // rally points
    {233, 233, kCorrections},   // GPS_RTCM_DATA
    {242, 244, kTransfer},      // HOME_POSITION, SET_HOME_POSITION, MESSAGE_INTERVAL
    {12900, 12905, kTransfer},  // OPEN_DRONE_ID
    {12915, 12915, kTransfer},
    {12918, 12919, kTransfer},
    {1, 2, kStream},      // SYS_STATUS, SYSTEM_TIME
    {24, 24, kStream},    // GPS_RAW_INT
    {26, 27, kStream},    // SCALED_IMU, RAW_IMU
    {29, 33, kStream},    // SCALED_PRESSURE, attitude, position
    {35, 36, kStream},    // RC_CHANNELS_RAW, SERVO_OUTPUT_RAW
    {62, 62, kStream},    // NAV_CONTROLLER_OUTPUT
    {65, 65, kStream},    // RC_CHANNELS
    {74, 74, kStream},    // VFR_HUD
    {83, 83, kStream},    // ATTITUDE_TARGET
    {85, 85, kStream},    // POSITION_TARGET_LOCAL_NED
    {87, 87, kStream},    // POSITION_TARGET_GLOBAL_INT
    {105, 105, kStream},  // HIGHRES_IMU
    {116, 116, kStream},  // SCALED_IMU2
    {129, 129, kStream},  // SCALED_IMU3
    {137, 137, kStream},  // SCALED_PRESSURE2
    {141, 141, kStream},  // ALTITUDE
    {143, 143, kStream},  // SCALED_PRESSURE3
    {168, 168, kStream},  // WIND
    {193, 193, kStream},  // EKF_STATUS_REPORT
    {230, 231, kStream},  // ESTIMATOR_STATUS, WIND_COV
    {241, 241, kStream},  // VIBRATION
    {245, 245, kStream},  // EXTENDED_SYS_STATE
    {331, 331, kStream},  // ODOMETRY
};

constexpr auto kById = [](const Entry& entry, std::uint32_t id) { return entry.first < id; };

}  // namespace

MessageClasses::MessageClasses(const std::vector<Override>& overrides) {
  for (const auto& range : kRanges)
    for (auto id = range.first; id <= range.last; ++id) table_.emplace_back(id, range.treatment);
  std::sort(table_.begin(), table_.end(), [](const Entry& a, const Entry& b) { return a.first < b.first; });
  for (const auto& [id, given] : overrides) {
    auto treatment = of(id);
    const bool control = treatment == kControl;
    treatment.shape_class = given;
    treatment.parameters = treatment.parameters && given == ShapeClass::transfer;
    treatment.twice = treatment.twice && given == ShapeClass::command;
    treatment.file = treatment.file && given == ShapeClass::rest;
    treatment.newest = given == ShapeClass::stream || (given == ShapeClass::command && control);
    const auto at = std::lower_bound(table_.begin(), table_.end(), id, kById);
    if (at != table_.end() && at->first == id)
      at->second = treatment;
    else
      table_.emplace(at, id, treatment);
  }
}

Treatment MessageClasses::of(std::uint32_t id) const noexcept {
  const auto at = std::lower_bound(table_.begin(), table_.end(), id, kById);
  return at != table_.end() && at->first == id ? at->second : Treatment{};
}

bool is_parameter(ByteView datagram) noexcept {
  if (datagram.size() > kShapeParameterBytes) return false;
  const auto header = read_mavlink_header(datagram);
  return header && header->id == kParamValue && !header->has_signature && header->size == datagram.size();
}

DatagramClass classify(ByteView datagram, const MessageClasses& classes) noexcept {
  DatagramClass out;
  std::size_t messages = 0;
  bool corrections = true, parameters = true, twice = true, file = true;
  const bool readable = walk_mavlink(datagram, [&](const MavlinkHeader& header) {
    const auto treatment = classes.of(header.id);
    corrections = corrections && treatment.corrections;
    parameters = parameters && treatment.parameters;
    twice = twice && treatment.twice;
    file = file && treatment.file;
    out.shape_class = std::min(out.shape_class, treatment.shape_class);
    out.stream.reset();
    if (header.has_signature && !out.signer)
      out.signer = std::uint32_t{header.system} << 16 | std::uint32_t{header.component} << 8 | header.signing_link;
    if (++messages == 1 && treatment.newest)
      out.stream = std::uint64_t{header.id} << 16 | std::uint64_t{header.system} << 8 | header.component;
  });
  if (!readable) return {};
  out.corrections = corrections && out.shape_class == ShapeClass::transfer;
  out.parameters = parameters;
  out.twice = twice && !out.signer;
  out.file = file;
  return out;
}

}  // namespace pqcmav
