# SPDX-License-Identifier: Apache-2.0
"""Names of hosts as browsers and tools send them, and as they do not."""

from __future__ import annotations

import pytest

from pqc_mav_common.host_header import canonical, host_of


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("127.0.0.1:9464", "127.0.0.1"),
        ("LocalHost", "localhost"),
        ("localhost:", "localhost"),
        ("localhost.:80", "localhost"),
        ("gcs.example.org:80", "gcs.example.org"),
        ("[::1]:9464", "::1"),
        ("[::1]", "::1"),
        ("[0:0:0:0:0:0:0:1]", "::1"),
        ("", ""),
        ("evil.example:80x", ""),
        ("localhost:²", ""),
        ("127.0.0.1:9464@evil", ""),
        ("[::1", ""),
        ("[::1]evil", ""),
        ("[evil]", ""),
        ("[localhost]:9464", ""),
        ("::1", ""),
    ],
)
def test_hosts(header: str, host: str) -> None:
    assert host_of(header) == host
    assert not host or canonical(host) == canonical(f"[{host}]") == host
