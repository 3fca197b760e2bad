# SPDX-License-Identifier: Apache-2.0
"""The parameters this vehicle has, as data: name, type, default, least and greatest value.

Names, types and ranges follow PX4's parameter reference for a quadrotor
(https://docs.px4.io/main/en/advanced_config/parameter_reference.html). Those in `flight_config.FlightConfig` change
how the vehicle flies, the BAT1_* and MAV_* ones describe it; the others are there because ground stations read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class ParamType(IntEnum):
    """MAV_PARAM_TYPE of the two types PX4 stores."""

    INT32 = 6
    REAL32 = 9


@dataclass(frozen=True)
class ParamSpec:
    """One parameter; `minimum` and `maximum` bound what a PARAM_SET may write."""

    name: str
    type: ParamType
    default: float
    minimum: float
    maximum: float
    read_only: bool = False


_TABLE = """
BAT1_A_PER_V       f 36.367515 0 200
BAT1_CAPACITY      f 5000 -1 100000
BAT1_I_CHANNEL     i -1 -1 15
BAT1_N_CELLS       i 4 0 16
BAT1_R_INTERNAL    f 0.0055 -1 0.2
BAT1_SOURCE        i 0 -1 2
BAT1_V_CHANNEL     i -1 -1 15
BAT1_V_CHARGED     f 4.05 0 5
BAT1_V_DIV         f 18.1 0 100
BAT1_V_EMPTY       f 3.6 0 5
BAT_AVRG_CURRENT   f 15 0 500
BAT_CRIT_THR       f 0.07 0.05 0.5
BAT_EMERGEN_THR    f 0.05 0.03 0.5
BAT_LOW_THR        f 0.15 0.12 0.5
CAL_ACC0_ID        i 1310988 0 2147483647
CAL_ACC0_PRIO      i 50 -1 100
CAL_ACC0_ROT       i -1 -1 40
CAL_ACC0_XOFF      f 0.012 -10 10
CAL_ACC0_XSCALE    f 1.001 0.1 3
CAL_ACC0_YOFF      f -0.021 -10 10
CAL_ACC0_YSCALE    f 0.999 0.1 3
CAL_ACC0_ZOFF      f 0.034 -10 10
CAL_ACC0_ZSCALE    f 1.002 0.1 3
CAL_BARO0_ID       i 6620172 0 2147483647
CAL_BARO0_PRIO     i 50 -1 100
CAL_GYRO0_ID       i 1310988 0 2147483647
CAL_GYRO0_PRIO     i 50 -1 100
CAL_GYRO0_XOFF     f 0.0011 -5 5
CAL_GYRO0_YOFF     f -0.0007 -5 5
CAL_GYRO0_ZOFF     f 0.0004 -5 5
CAL_MAG0_ID        i 197388 0 2147483647
CAL_MAG0_PRIO      i 75 -1 100
CAL_MAG0_ROT       i 0 -1 40
CAL_MAG0_XOFF      f 0.041 -5 5
CAL_MAG0_YOFF      f -0.018 -5 5
CAL_MAG0_ZOFF      f 0.007 -5 5
CBRK_BUZZER        i 0 0 782097
CBRK_SUPPLY_CHK    i 0 0 894281
CBRK_USB_CHK       i 197848 0 197848
COM_ARM_EKF_HGT    f 1 0.1 1
COM_ARM_EKF_POS    f 0.5 0.1 1
COM_ARM_IMU_ACC    f 0.7 0.1 1
COM_ARM_IMU_GYR    f 0.25 0.02 0.3
COM_ARM_WO_GPS     i 1 0 2
COM_DISARM_LAND    f 2 -1 600
COM_DISARM_PRFLT   f 10 -1 600
COM_DL_LOSS_T      i 10 5 300
COM_FLTMODE1       i -1 -1 15
COM_FLTMODE2       i -1 -1 15
COM_FLTMODE3       i -1 -1 15
COM_FLTMODE4       i -1 -1 15
COM_FLTMODE5       i -1 -1 15
COM_FLTMODE6       i -1 -1 15
COM_LOW_BAT_ACT    i 3 0 3
COM_OBL_RC_ACT     i 0 0 7
COM_POS_FS_EPH     f 5 -1 400
COM_RC_IN_MODE     i 1 0 8
COM_RC_LOSS_T      f 0.5 0 35
EKF2_AID_MASK      i 1 0 511
EKF2_GPS_CHECK     i 245 0 1023
EKF2_HGT_REF       i 1 0 3
EKF2_IMU_POS_X     f 0 -5 5
EKF2_IMU_POS_Y     f 0 -5 5
EKF2_IMU_POS_Z     f 0 -5 5
GF_ACTION          i 2 0 5
GF_MAX_HOR_DIST    f 0 0 10000
GF_MAX_VER_DIST    f 0 0 10000
IMU_ACCEL_CUTOFF   f 30 0 1000
IMU_DGYRO_CUTOFF   f 20 0 1000
IMU_GYRO_CUTOFF    f 40 0 1000
IMU_GYRO_RATEMAX   i 400 100 8000
LND_FLIGHT_T_HI    i 0 0 2147483647 ro
LND_FLIGHT_T_LO    i 0 -2147483648 2147483647 ro
LNDMC_XY_VEL_MAX   f 1.5 0 10
LNDMC_Z_VEL_MAX    f 0.25 0 10
MAV_0_CONFIG       i 101 0 1000
MAV_0_MODE         i 0 0 12
MAV_0_RATE         i 1200 0 1000000
MAV_COMP_ID        i 1 1 250 ro
MAV_PROTO_VER      i 2 0 2 ro
MAV_SYS_ID         i 1 1 250 ro
MAV_TYPE           i 2 0 22 ro
MC_AIRMODE         i 0 0 2
MC_PITCHRATE_D     f 0.003 0 1
MC_PITCHRATE_I     f 0.2 0 10
MC_PITCHRATE_P     f 0.15 0.01 0.6
MC_PITCH_P         f 6.5 0 12
MC_ROLLRATE_D      f 0.003 0 0.01
MC_ROLLRATE_I      f 0.2 0 10
MC_ROLLRATE_P      f 0.15 0.01 0.5
MC_ROLL_P          f 6.5 0 12
MC_YAWRATE_I       f 0.1 0 10
MC_YAWRATE_P       f 0.2 0 0.6
MC_YAW_P           f 2.8 0 5
MIS_DIST_1WP       f 900 -1 100000
MIS_TAKEOFF_ALT    f 2.5 0 80
MIS_YAW_TMT        f -1 -1 20
MPC_ACC_HOR        f 3 2 15
MPC_ACC_HOR_MAX    f 5 2 15
MPC_LAND_ALT1      f 10 0 122
MPC_LAND_ALT2      f 5 0 122
MPC_LAND_SPEED     f 0.7 0.6 10
MPC_MAN_TILT_MAX   f 35 1 70
MPC_THR_HOVER      f 0.5 0.1 0.8
MPC_TILTMAX_AIR    f 45 20 89
MPC_TKO_SPEED      f 1.5 1 5
MPC_VEL_MANUAL     f 10 3 20
MPC_XY_CRUISE      f 5 3 20
MPC_XY_P           f 0.95 0 2
MPC_XY_VEL_MAX     f 12 0 20
MPC_Z_P            f 1 0 1.5
MPC_Z_VEL_MAX_DN   f 1.5 0.5 4
MPC_Z_VEL_MAX_UP   f 3 0.5 8
NAV_ACC_RAD        f 2 0.05 200
NAV_DLL_ACT        i 0 0 3
NAV_RCL_ACT        i 2 1 6
RC_CHAN_CNT        i 0 0 18
RC_MAP_PITCH       i 0 0 18
RC_MAP_ROLL        i 0 0 18
RC_MAP_THROTTLE    i 0 0 18
RC_MAP_YAW         i 0 0 18
RTL_DESCEND_ALT    f 30 0 100
RTL_LAND_DELAY     f 0 -1 100
RTL_RETURN_ALT     f 30 0 150
RTL_TYPE           i 0 0 3
SDLOG_MODE         i 0 -1 4
SDLOG_PROFILE      i 1 0 2047
SENS_BOARD_ROT     i 0 0 40
SENS_DPRES_OFF     f 0 -1000 1000
SYS_AUTOSTART      i 4001 0 9999999
SYS_HAS_BARO       i 1 0 1
SYS_HAS_GPS        i 1 0 1
SYS_HAS_MAG        i 1 0 1
SYS_HITL           i 0 -1 2
SYS_PARAM_VER      i 1 0 2147483647 ro
"""


def _parse(line: str) -> ParamSpec:
    name, kind, default, minimum, maximum, *flags = line.split()
    kind_of = ParamType.INT32 if kind == "i" else ParamType.REAL32
    return ParamSpec(name, kind_of, float(default), float(minimum), float(maximum), "ro" in flags)


PARAM_SPECS: tuple[ParamSpec, ...] = tuple(_parse(line) for line in _TABLE.strip().splitlines())
