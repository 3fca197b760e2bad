# SPDX-License-Identifier: Apache-2.0
"""Parts of SiK's firmware compiled for this machine: framing, the times of turns, AT commands, error correction.

`PQCMAV_SIK_SOURCE` is the folder Firmware/ of a checkout of github.com/ArduPilot/SiK (tried with 50189f2); nothing of
it is part of this repository. The source goes to the compiler with other words for the 8051's kinds of memory; what it
calls of the rest of the firmware is written here anew.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from pathlib import Path

SOURCE = Path(os.environ.get("PQCMAV_SIK_SOURCE", "/nonexistent")) / "radio"

_HEADER = """
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define __pdata
#define __xdata
#define __data
#define __code
#define __bit bool
#define __reentrant
#define MAX_PACKET_LENGTH 252U
#define MAVLINK10_STX 254
#define MAVLINK20_STX 253
#define AT_CMD_MAXLEN 16
#define ARRAY_LENGTH(a) (sizeof(a)/sizeof(a[0]))
#define BOARD_MAXTXPOWER 20
#define BOARD_ID 78
#define AT_TEST_RSSI 1
#define AT_TEST_TDM 2
#define PARAM_FORMAT_CURRENT 0x1aUL
typedef uint32_t param_t;
enum ParamID { PARAM_FORMAT, PARAM_SERIAL_SPEED, PARAM_AIR_SPEED, PARAM_NETID, PARAM_TXPOWER, PARAM_ECC, PARAM_MAVLINK,
  PARAM_OPPRESEND, PARAM_MIN_FREQ, PARAM_MAX_FREQ, PARAM_NUM_CHANNELS, PARAM_DUTY_CYCLE, PARAM_LBT_RSSI,
  PARAM_MANCHESTER, PARAM_RTSCTS, PARAM_MAX_WINDOW, PARAM_MAX };
extern uint8_t feature_mavlink_framing;
extern bool feature_golay, feature_rtscts;
extern uint16_t now_ticks;
extern uint8_t duty_cycle, lbt_rssi;
uint16_t serial_read_available(void);
uint8_t serial_peekx(uint16_t at);
uint8_t serial_read(void);
bool serial_read_buf(uint8_t *to, uint8_t count);
void panic(char *text, ...);
void packet_set_max_xmit(uint8_t most);
param_t param_get(enum ParamID id);
bool param_set(enum ParamID id, param_t value);
const char *param_name(enum ParamID id);
void param_default(void);
void param_save(void);
uint32_t constrain(uint32_t v, uint32_t min, uint32_t max);
static inline uint16_t timer2_tick(void) { return now_ticks; }
"""

_HOST = """
uint8_t feature_mavlink_framing = 1;
bool feature_golay, feature_rtscts;
uint16_t now_ticks;
uint8_t duty_cycle, lbt_rssi;
static uint8_t line[4096];
static unsigned held;
void host_put(const uint8_t *from, unsigned count) { memcpy(line + held, from, count); held += count; }
unsigned host_held(void) { return held; }
void host_at(uint16_t ticks) { now_ticks = ticks; }
static void drop(unsigned count) { memmove(line, line + count, held - count); held -= count; }
uint16_t serial_read_available(void) { return held; }
uint8_t serial_peekx(uint16_t at) { return line[at]; }
uint8_t serial_read(void) { uint8_t c = line[0]; drop(1); return c; }
bool serial_read_buf(uint8_t *to, uint8_t count) {
  if (count > held) return false;
  memcpy(to, line, count); drop(count); return true;
}
void panic(char *text, ...) { abort(); }
uint32_t constrain(uint32_t v, uint32_t min, uint32_t max) { return v < min ? min : v > max ? max : v; }
static void radio_set_transmit_power(param_t v) { (void)v; }
static param_t power;
#define radio_set_transmit_power(v) (power = (v))
#define radio_get_transmit_power() power
"""

_TURNS = """
struct tdm_trailer { uint16_t window:13, command:1, bonus:1, resend:1; };
static struct tdm_trailer trailer;
static uint16_t tx_window_width, silence_period, packet_latency, ticks_per_byte, lbt_min_time;
static uint8_t max_data_packet_length, num_fh_channels = 1, air;
static struct { uint8_t preamble_length; } settings = { 16 };
static uint8_t radio_air_rate(void) { return air; }
void tdm_init(void);
void host_turns(uint8_t rate, bool ecc, uint16_t *out) {
  air = rate; feature_golay = ecc; tdm_init();
  out[0] = tx_window_width; out[1] = silence_period; out[2] = packet_latency; out[3] = ticks_per_byte;
  out[4] = max_data_packet_length;
}
"""

_GOLAY = """
static uint8_t netid[2] = { 25, 0 };
static uint8_t radio_buffer[MAX_PACKET_LENGTH], receive_packet_length;
static bool packet_received;
static struct { uint16_t rx_errors, corrected_errors, corrected_packets; } errors;
#define debug(...) ((void)0)
static void radio_receiver_on(void) { packet_received = false; }
static bool radio_transmit_simple(uint8_t length, uint8_t *buf, uint16_t ticks) {
  receive_packet_length = length; packet_received = true; return true;
}
"""

_GOLAY_END = """
unsigned host_encode(uint8_t length, uint8_t *packet, uint8_t *air) {
  radio_transmit_golay(length, packet, 0);
  memcpy(air, radio_buffer, receive_packet_length);
  return receive_packet_length;
}
bool host_decode(unsigned length, uint8_t *air, uint8_t *packet) {
  uint8_t size;
  memcpy(radio_buffer, air, length); receive_packet_length = length; packet_received = true; feature_golay = true;
  return radio_receive_packet(&size, packet);
}
"""

_COMMANDS = """
static char said[65536];
static unsigned said_size;
static unsigned resets, remotes;
static void host_reset(void);
static unsigned tell(const char *format, ...) {
  va_list list; char text[256];
  va_start(list, format); vsnprintf(text, sizeof text, format, list); va_end(list);
  for (char *c = text; *c; c++) { if (*c == 10) said[said_size++] = 13; said[said_size++] = *c; }
  return 0;
}
#define printf tell
#undef putchar
#define putchar(c) tell("%c", c)
static const char g_banner_string[] = "SiK 2.2 on HM-TRP", g_version_string[] = "2.2";
static const int g_board_frequency = 67, g_board_bl_version = 1;
static int RSTSRC, FLKEY, PSCTL;
static uint8_t flash_byte;
#define FLASH_SIGNATURE_BYTES (&flash_byte)
static void tdm_remote_at(void) { remotes++; }
static void tdm_report_timing(void) { }
static void tdm_show_rssi(void) { }
static void tdm_change_phase(void) { }
"""

_COMMANDS_END = """
static void host_reset(void) {
  at_mode_active = 0; at_cmd_ready = 0; at_cmd_len = 0; at_plus_state = 0; at_plus_counter = 100; resets++;
  memcpy(parameter_values, saved, sizeof saved);
}
void host_begin(void) {
  param_default(); param_save(); host_reset(); resets = remotes = said_size = held = mav_pkt_len = 0;
}
void host_type(uint8_t c) {
  if (at_mode_active) { if (!at_cmd_ready) at_input(c); } else at_plus_detector(c);
}
void host_tick(void) { at_timer(); at_command(); }
void host_loop(void) { at_command(); }
bool host_active(void) { return at_mode_active; }
unsigned host_resets(void) { return resets; }
unsigned host_remotes(void) { return remotes; }
unsigned host_said(char *to) { unsigned n = said_size; memcpy(to, said, n); said_size = 0; return n; }
"""


def _text(name: str) -> str:
    return (SOURCE / name).read_text(encoding="latin-1")


def _function(file: str, name: str) -> str:
    """Its definition."""
    found = re.search(rf"^(?:static\s+)?\w+\s+{name}\([^;]*?\)\s*\{{.*?^\}}\n", _text(file), re.DOTALL | re.MULTILINE)
    assert found, name
    return found.group(0)


def _without_includes(file: str) -> str:
    return re.sub(r"^#\s*include.*$", "", _text(file), flags=re.MULTILINE)


def build(folder: Path) -> ctypes.CDLL:
    """A library of all of it."""
    table = re.search(r"^__code const struct parameter_info.*?^};", _text("parameters.c"), re.S | re.M)
    rates = re.search(r"^static const __code struct \{\n\tuint8_t\s*rate.*?^};", _text("serial.c"), re.S | re.M)
    assert table and rates
    # A reset ends in an endless loop.
    commands = re.sub(r"RSTSRC \|= [^;]*;\s*for \(;;\)\s*;", "{ host_reset(); return; }", _without_includes("at.c"))
    parts = [
        _HEADER,
        _HOST,
        _without_includes("packet.c").replace("printf(", "(void)("),
        _TURNS,
        _function("tdm.c", "tdm_init"),
        rates.group(0),
        _function("serial.c", "serial_device_valid_speed"),
        table.group(0),
        "param_t parameter_values[PARAM_MAX];",
        "param_t param_get(enum ParamID id) { return id < PARAM_MAX ? parameter_values[id] : 0; }",
        "const char *param_name(enum ParamID id) { return parameter_info[id].name; }",
        "static param_t saved[PARAM_MAX];",
        "void param_save(void) { memcpy(saved, parameter_values, sizeof saved); }",
        _function("parameters.c", "param_check"),
        _function("parameters.c", "param_set"),
        _function("parameters.c", "param_default"),
        _text("golay23.h"),
        _GOLAY,
        _without_includes("golay.c"),
        _without_includes("crc.c"),
        _function("radio_443x.c", "radio_transmit_golay"),
        _function("radio_443x.c", "radio_receive_packet"),
        _GOLAY_END,
        _COMMANDS,
        commands,
        _COMMANDS_END,
    ]
    source, library = folder / "sik.c", folder / "sik.so"
    source.write_text("\n".join(parts), encoding="latin-1")
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-w", "-fsigned-char", "-o", str(library), str(source)], check=True
    )
    return ctypes.CDLL(str(library))
