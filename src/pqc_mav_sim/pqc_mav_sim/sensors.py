# SPDX-License-Identifier: Apache-2.0
"""Messages of noisy sensors: inertial unit, barometer, GNSS, vibration. The noise is seeded, so runs repeat."""

import math
import random

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.airframe import GRAVITY
from pqc_mav_sim.plant import Plant
from pqc_mav_sim.rotations import boot_ms, boot_us, centidegrees, to_body

# earth's field at mid northern latitudes, gauss: horizontal and down
_FIELD_NORTH, _FIELD_DOWN = 0.215, 0.425
_GEOID_SEPARATION_MM = 47_000
_ALL_FIELDS_UPDATED = 0x1FFF

Vector = tuple[float, float, float]


class Sensors:
    """What the sensors of a plant read. Times are seconds since boot."""

    def __init__(self, plant: Plant, seed: int) -> None:
        self.plant = plant
        self._rng = random.Random(seed ^ 0x5EED)

    def _noisy(self, vector: Vector, sigma: float) -> Vector:
        gauss = self._rng.gauss
        return vector[0] + gauss(0.0, sigma), vector[1] + gauss(0.0, sigma), vector[2] + gauss(0.0, sigma)

    def _spin(self) -> float:
        """Rotor effort, 1 when hovering; it is what shakes the sensors."""
        airframe = self.plant.flight.airframe
        return airframe.motion.thrust_n / airframe.spec.hover_thrust_n

    def imu(self) -> tuple[Vector, Vector, Vector]:
        """Return acceleration (m/s^2), body rates (rad/s) and magnetic field (gauss), all in the body frame."""
        m = self.plant.flight.airframe.motion
        accel = to_body((m.an, m.ae, m.ad - GRAVITY), m.roll, m.pitch, m.yaw)
        field = to_body((_FIELD_NORTH, 0.0, _FIELD_DOWN), m.roll, m.pitch, m.yaw)
        return (
            self._noisy(accel, 0.03 + 0.12 * self._spin()),
            self._noisy((m.p, m.q, m.r), 0.003),
            self._noisy(field, 0.002),
        )

    def pressure_hpa(self) -> float:
        """Return the static pressure of the standard atmosphere (ISO 2533) at the noisy height."""
        flight = self.plant.flight
        height = flight.frame.alt_m + flight.airframe.motion.altitude + self._rng.gauss(0.0, 0.15)
        return float(1013.25 * (1.0 - height / 44330.0) ** 5.255)

    def highres_imu(self, t: float) -> mavlink.MAVLink_message:
        """Return HIGHRES_IMU; its time stamp has microseconds, which makes it the probe for one-way latency."""
        accel, gyro, mag = self.imu()
        pressure = self.pressure_hpa()
        height = 44330.0 * (1.0 - (pressure / 1013.25) ** (1.0 / 5.255))
        temperature = self.plant.thermal.avionics_c
        return mavlink.MAVLink_highres_imu_message(
            boot_us(t), *accel, *gyro, *mag, pressure, 0.0, height, temperature, _ALL_FIELDS_UPDATED
        )

    def scaled_imu(self, t: float) -> mavlink.MAVLink_message:
        """Return SCALED_IMU in mG, mrad/s and mgauss."""
        accel, gyro, mag = self.imu()
        units = (*(a / GRAVITY for a in accel), *gyro, *mag)
        values = [max(-32768, min(32767, round(1000.0 * v))) for v in units]
        temperature = round(self.plant.thermal.avionics_c * 100)
        return mavlink.MAVLink_scaled_imu_message(boot_ms(t), *values, temperature=temperature)

    def scaled_pressure(self, t: float) -> mavlink.MAVLink_message:
        """Return SCALED_PRESSURE."""
        temperature = round(self.plant.thermal.avionics_c * 100)
        return mavlink.MAVLink_scaled_pressure_message(boot_ms(t), self.pressure_hpa(), 0.0, temperature)

    def vibration(self, t: float) -> mavlink.MAVLink_message:
        """Return VIBRATION, growing with the rotor effort."""
        level = (abs(self._rng.gauss(0.02 + 0.2 * self._spin(), 0.01)) for _ in range(3))
        return mavlink.MAVLink_vibration_message(boot_us(t), *level, 0, 0, 0)

    def estimator_status(self, t: float) -> mavlink.MAVLink_message:
        """Return ESTIMATOR_STATUS; the horizontal position is good once the flight is ready."""
        flags = (
            mavlink.ESTIMATOR_ATTITUDE
            | mavlink.ESTIMATOR_VELOCITY_HORIZ
            | mavlink.ESTIMATOR_VELOCITY_VERT
            | mavlink.ESTIMATOR_POS_VERT_ABS
        )
        if self.plant.flight.ready:
            flags |= mavlink.ESTIMATOR_POS_HORIZ_REL | mavlink.ESTIMATOR_POS_HORIZ_ABS
        ratios = (abs(self._rng.gauss(0.05, 0.02)) for _ in range(4))
        nan = float("nan")
        return mavlink.MAVLink_estimator_status_message(boot_us(t), flags, *ratios, nan, nan, 0.4, 0.6)

    def gps_raw_int(self, t: float) -> mavlink.MAVLink_message:
        """Return GPS_RAW_INT with the scatter of a single-band receiver."""
        flight, gauss = self.plant.flight, self._rng.gauss
        m = flight.airframe.motion
        lat, lon = flight.frame.to_geodetic(m.north + gauss(0.0, 0.3), m.east + gauss(0.0, 0.3))
        altitude = round((flight.frame.alt_m + m.altitude + gauss(0.0, 0.5)) * 1000)
        return mavlink.MAVLink_gps_raw_int_message(
            boot_us(t),
            mavlink.GPS_FIX_TYPE_3D_FIX,
            round(lat * 1e7),
            round(lon * 1e7),
            altitude,
            eph=90,
            epv=130,
            vel=min(round(m.groundspeed * 100), 65534),
            cog=centidegrees(math.atan2(m.ve, m.vn)),
            satellites_visible=14,
            alt_ellipsoid=altitude + _GEOID_SEPARATION_MM,
            h_acc=600,
            v_acc=900,
            vel_acc=200,
        )
