# SPDX-License-Identifier: Apache-2.0
"""The cluster's certificates: one authority, a certificate for each program, and what they read it from."""

import datetime
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAYS = 7


def _name(common: str, group: str = "") -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if group:
        parts.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(parts)


class Authority:
    """Signs what the cluster's programs show each other; Kubernetes reads user and group from the name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = _name("pqcmav-cluster")
        self._write("ca", self._sign(self._subject, self._key, [], True), self._key)
        # What tokens of service accounts are signed with.
        self._write("accounts", None, ec.generate_private_key(ec.SECP256R1()))

    def path(self, name: str, what: str = "crt") -> Path:
        """Where a certificate (`crt`) or its key (`key`) is."""
        return self._folder / f"{name}.{what}"

    def issue(self, name: str, common: str, group: str = "", addresses: Sequence[str] = ()) -> None:
        """Make a key, and a certificate for it."""
        key = ec.generate_private_key(ec.SECP256R1())
        self._write(name, self._sign(_name(common, group), key, addresses, False), key)

    def kubeconfig(self, name: str, common: str, group: str, api: str) -> Path:
        """Make a program's certificate and the file by which it finds the API server. Returns the file."""
        self.issue(name, common, group)
        path = self._folder / f"{name}.conf"
        path.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: cluster\n"
            "contexts: [{name: cluster, context: {cluster: cluster, user: me}}]\n"
            f"clusters: [{{name: cluster, cluster: {{server: '{api}', certificate-authority: {self.path('ca')}}}}}]\n"
            f"users: [{{name: me, user: {{client-certificate: {self.path(name)},"
            f" client-key: {self.path(name, 'key')}}}}}]\n",
            encoding="utf-8",
        )
        return path

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, addresses: Sequence[str], authority: bool
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=_DAYS))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if addresses:
            names: list[x509.GeneralName] = [x509.IPAddress(ipaddress.ip_address(each)) for each in addresses]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        if not authority:
            both = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
            builder = builder.add_extension(x509.ExtendedKeyUsage(both), critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def _write(self, name: str, certificate: x509.Certificate | None, key: ec.EllipticCurvePrivateKey) -> None:
        pem = serialization.Encoding.PEM
        text = key.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
        self.path(name, "key").touch(0o600)
        self.path(name, "key").write_bytes(text)
        if certificate is not None:
            self.path(name).write_bytes(certificate.public_bytes(pem))
