# SPDX-License-Identifier: Apache-2.0
"""The ways in which a peer, a file or a library can be wrong. Every message is one sentence for a person."""


class WireError(Exception):
    """Base of everything this package refuses."""


class MalformedError(WireError):
    """Bytes that are no message of this protocol at the place where they came."""


class AuthenticationError(WireError):
    """A gate, signature, confirmation or key agreement that does not verify."""


class RejectedError(WireError):
    """A Reject was sent or received.

    `code` is the number on the wire (docs/protocol.md section 4), `detail` what stands in its `retry_ms`.
    """

    def __init__(self, code: int, reason: str, detail: int = 0) -> None:
        super().__init__(f"handshake rejected with code {code}: {reason}")
        self.code = code
        self.reason = reason
        self.detail = detail


class SuiteError(WireError):
    """A suite name that the table does not have, or whose algorithms the library lacks."""


class KeyExhaustedError(WireError):
    """A key has carried all the packets that it may, or its sequence numbers are used."""


class NoSessionError(WireError):
    """There is no key to send with: plaintext is refused, never forwarded in clear."""


class KeyFileError(WireError):
    """A key file that is missing, readable by others or not of the form it should have."""


class LibraryError(WireError):
    """The crypto library cannot be used; the message says what to set."""
