# SPDX-License-Identifier: Apache-2.0
"""Self-signed certificates for the systems that use TLS or DTLS."""

from pathlib import Path

from peers import programs


def make(folder: Path, name: str) -> str:
    """Write NAME.key and NAME.crt (ECDSA P-256, valid for a day); returns the SHA-256 fingerprint, as AA:BB:..."""
    key, certificate = str(folder / f"{name}.key"), str(folder / f"{name}.crt")
    programs.ask(
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-days", "1", "-subj", f"/CN={name}", "-keyout", key, "-out", certificate),
    )
    return programs.ask("openssl", "x509", "-in", certificate, "-noout", "-fingerprint", "-sha256").split("=", 1)[1]
