# SPDX-License-Identifier: Apache-2.0
"""What the extension module offers. Every refusal is a `TunnelError` with a `code` and one sentence."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, final

class TunnelError(RuntimeError):
    """A refusal: `str(error)` is one sentence for a person, `code` tells refusals apart.

    The codes: config_syntax, config_unknown_key, config_invalid, key_missing, key_permissions, key_format,
    suite_unknown, suite_unavailable, address, port_in_use, permission, crypto, io, state.
    """

    code: str
    is_configuration: bool
    """Configuration, keys or suite: the same start fails again until a file is changed."""

@final
class Written:
    """The configuration as it is written, beside what was added and removed since."""

class Engine:
    """One end of the tunnel: sockets and threads behind a validated configuration. `Door` steers it in flight."""

    def __init__(self, config: Mapping[str, Any], written: Written | None = None) -> None:
        """Read keys and check the configuration (flat or nested keys of `config_schema`); open nothing yet.

        `written`: that of the engine before.
        """
    def start(self) -> None:
        """Open the sockets and start the threads; an engine runs once."""
    def stop(self) -> None:
        """Say goodbye to the peers, end the threads, wipe the keys, close the sockets. Idempotent."""
    def config(self) -> dict[str, Any]:
        """Return the effective configuration, flat; keys appear as paths alone."""
    def written(self) -> Written:
        """Return it as it is now, for the engine that comes next."""
    def for_next(self, read: Mapping[str, Any]) -> dict[str, Any]:
        """Return what was read, with what was changed of the drones since, for the engine that comes next."""
    def ports(self) -> dict[str, Any]:
        """Return `data` and `plain` (by drone id) as they were opened."""
    def status(self) -> list[dict[str, Any]]:
        """Return the state of each link, as the control socket's command of this name; so do stats and links."""
    def picture(self, of: Literal["status", "stats", "link", "server"]) -> Any:
        """Return this under the names of the ROS messages (`picture_schema`), one for each link.

        Of `link` a list of one or two sides for each, of `server` one for all. What is not known yet is None.
        """
    def stats(self) -> list[dict[str, Any]]:
        """Return the counters of each link since the start, with seal_mean_ns and open_mean_ns (sampled)."""
    def totals(self) -> dict[str, int]:
        """Return the counters of the process.

        enc_rx_datagrams is the sum of delivered, control and the six drop_* counters. A gcs adds those of its
        handshake server (hs_*) and keygens.
        """
    def refused_from(self) -> tuple[str, float] | None:
        """Return the network (/24, or /48 of IPv6) with the largest share of what was refused in the last second or
        two, and that share, at least. None where nothing was refused or no network stands out.
        """
    def links(self) -> list[dict[str, Any]]:
        """Return the quality of each link: local and peer views over 5 s, rtt_ms, rtt_min_ms, clock_offset_ms."""
    def wait_events(self, timeout_s: float, max_events: int = 64) -> list[dict[str, Any]]:
        """Wait up to `timeout_s` for the next events of type state, handshake or log, without holding the GIL."""
    def request_rekey(
        self,
        drone_id: str,
        suite: str = "",
        reason: str = "",
        timeout_s: float = 60.0,
        kind: str = "",
        pin_for_s: float = 0.0,
    ) -> dict[str, Any]:
        """Change the keys now, to the same suite or another; a gcs asks its drone.

        The kind is "rekey" (or ""), a full handshake, or "ratchet", which keeps the suite. `pin_for_s` is for how long
        (at most a week) no policy is to choose another suite; a suite asked for with 0 ends an earlier pin. Returns ok,
        suite, epoch, rekey_ms, pin_for_s and message, a sentence in either case.
        """
    def set_config_source(
        self,
        read: Callable[[], Mapping[str, Any]] | None,
        taken: Callable[[], None] | None = None,
        files: Sequence[str] = ...,
    ) -> None:
        """Say where reload() gets the configuration from; it is called in any thread, but one at a time.

        What `read` raises refuses the reload with the text of its exception. `taken` is called when the engine has
        taken what was read. `files` are the paths it is read from. None: there is no source any more.
        """
    def reload(self, dry_run: bool = False) -> dict[str, Any]:
        """Read the configuration, where it has a source, and the keys again; `dry_run` only says what would change.

        Renewed keys count from the next handshake on, a drone without one is shut out, and who stays as it was keeps
        its session. Returns the drones whose keys were `renewed` and `removed`, the algorithms of changed `signing`
        keys, whether there was a `configuration` to read, and below `drones` those that were `added`, `removed` and
        `changed`, those `kept` that were added at run time and that no configuration has named so far, and the keys
        that only a `restart` takes. Raises TunnelError, and then the drones are as before.
        """
    def control_socket(self) -> str:
        """Return the path of the control socket, "" without one."""
    def set_shape_kbit(self, kbit: int) -> bool:
        """Shape what leaves to this rate from now on, for every link; 0 = off. False when the engine does not run."""

@final
class Door:
    """The control socket of an engine without the socket, for the program that hosts the engine."""

    def __init__(self, engine: Engine) -> None: ...
    def ask(self, request: str) -> str:
        """Answer one request as docs/control-socket.md has it, both without the end of the line; waits for a rekey."""
    def events(self, timeout_s: float) -> list[str]:
        """Wait up to `timeout_s` for the next events, which `Engine.wait_events` then lacks, a line of JSON each.

        As a subscription has them, a handshake with its `picture` (the fields of its message), and with `say` (`level`,
        `text`) what is worth a line in the host's log. The first one says where the started engine can be reached.
        """

@final
class SocketDoor:
    """The same of an engine in another process, by its control socket; a thread of its own finds it again and again.

    Only a daemon of this user or of root is asked, or of the user to whom root gave the folder below /run; and only the
    one whose `hello` has this role, id and nonce ("" = any).
    """

    def __init__(self, path: str, role: str = "", id: str = "", nonce: str = "") -> None: ...
    def ask(self, request: str) -> str:
        """Answer one request; a refusal with the code `away` says that the daemon is not there or gave no answer."""
    def events(self, timeout_s: float) -> list[str]:
        """Wait up to `timeout_s` for lines of events, a handshake with its `picture`, from the daemon's start on.

        With `"event": "door"` it says itself that the daemon is `there` (`boot`, `next`, `gap`, `state`, `problem`), or
        not (`reason`).
        """
    def hello(self) -> str:
        """Return what the daemon's hello said last, with the kernel's `process` and `uid`; "" while it is away."""
    def away(self) -> str:
        """Return why the daemon is away, "" while it is there."""
    def stop(self) -> None:
        """End all waits; from then on it is away."""

@final
class SessionKeys:
    """The two directional keys of one session and epoch. For tests and tools; the Engine never hands one out."""

    def __init__(
        self, suite: str, session_id: bytes, epoch: int, k_d2g: bytes, k_g2d: bytes, chain: bytes = ...
    ) -> None: ...
    @property
    def suite(self) -> str: ...
    @property
    def hybrid(self) -> bool: ...
    @property
    def drone_signed(self) -> bool: ...
    @property
    def session_id(self) -> bytes: ...
    @property
    def epoch(self) -> int: ...
    @property
    def k_d2g(self) -> bytes: ...
    @property
    def k_g2d(self) -> bytes: ...
    @property
    def ratchets(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def own_index(self) -> int | None: ...
    @property
    def peer_index(self) -> int: ...
    @property
    def chain(self) -> bytes: ...

@final
class SendKey:
    """Seals packets of one key; owns its sequence counter."""

    def __init__(self, keys: SessionKeys, direction: str, peer_index: int | None = None) -> None: ...
    def seal(self, payload: bytes, control: bool = False, bundle: bool = False, long_form: bool = False) -> bytes:
        """Return the datagram: header, ciphertext, tag. With a `peer_index` the header is compact where it may be."""

    def skip_to(self, sequence: int) -> None:
        """Leave sequence numbers out."""

    def peer_has_seen(self, sequence: int) -> None:
        """Take note of the highest sequence that the peer reported."""

@final
class ReceiveKey:
    """Opens packets of one key, with its replay window."""

    def __init__(
        self,
        keys: SessionKeys,
        direction: str,
        window_bits: int = 1024,
        index: int | None = None,
        bundles: bool = False,
    ) -> None: ...
    def open(self, datagram: bytes) -> tuple[str, bytes]:
        """Return data, control, bundle or the reason of the drop, and the payload."""

def call(name: str, arguments: str) -> str:
    """Answer one of the calls of `_calls.py`: arguments and result are JSON."""

def forbid_core_dumps() -> str:
    """Forbid this process core dumps and others to look into its memory, for good; no effect with PQCMAV_CORE_DUMPS=1.

    Returns a sentence for the log where that was not done, else "".
    """

def kem_keypair(token: str, provider: str = "") -> tuple[bytes, bytes]:
    """Return public and secret key."""

def kem_encapsulate(token: str, public_key: bytes, provider: str = "") -> tuple[bytes, bytes]:
    """Return ciphertext and shared secret."""

def kem_decapsulate(token: str, secret_key: bytes, ciphertext: bytes, provider: str = "") -> bytes:
    """Return the shared secret."""

def sig_keypair(token: str, provider: str = "") -> tuple[bytes, bytes]:
    """Return public and secret key."""

def sig_sign(token: str, secret_key: bytes, message: bytes, provider: str = "") -> bytes:
    """Return the signature."""

def sig_verify(token: str, public_key: bytes, message: bytes, signature: bytes, provider: str = "") -> bool:
    """Tell whether the signature is good."""
