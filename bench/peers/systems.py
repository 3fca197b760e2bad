# SPDX-License-Identifier: Apache-2.0
"""All systems that are compared, in the order of the page."""

from peers import dtls, nebula, openvpn, own, plain, rosenpass, wireguard

SYSTEMS = [
    *(*plain.SYSTEMS, *own.SYSTEMS, *wireguard.SYSTEMS),
    *(*nebula.SYSTEMS, *openvpn.SYSTEMS, *dtls.SYSTEMS, *rosenpass.SYSTEMS),
]
