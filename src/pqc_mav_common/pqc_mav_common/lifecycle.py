# SPDX-License-Identifier: Apache-2.0
"""What every node of PQC-MAV is: a lifecycle node that brings itself up unless `autostart` is false.

configure -> the parameters are read as they are then, publishers and timers are made; activate -> it works and
publishes; deactivate -> it rests and says so; cleanup -> all that is destroyed, back to the start. A class says in five
methods what that means for it: `offer`, `set_up`, `begin`, `end` and `tear_down`.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecyclePublisher, LifecycleState, TransitionCallbackReturn
from rclpy.qos_overriding_options import QoSOverridingOptions

from pqc_mav_common.errors import ExitCode, ProcessError, one_line
from pqc_mav_common.executors import Spun
from pqc_mav_common.line_logger import LineLogger
from pqc_mav_common.parameters import AUTOSTART, ParameterSpec, Settable, Values, check, declare, given_parameters
from pqc_mav_common.process import Spinner

SUCCESS = TransitionCallbackReturn.SUCCESS
FAILURE = TransitionCallbackReturn.FAILURE


class ManagedNode(LifecycleNode):
    """A node with parameters that count from its next configure on, and with a sentence for each refusal."""

    # What `set_up` and `begin` refuse with, one sentence each; anything else is a fault of ours.
    refusals: tuple[type[Exception], ...] = (ProcessError, ValueError)
    # Parameters that only the start may give, such as where the node writes files: the others may be set by whoever
    # reaches the ROS graph.
    fixed: frozenset[str] = frozenset()
    # What the log says of a node that was deactivated.
    at_rest = "it publishes nothing until it is activated again"

    def __init__(self, name: str, **arguments: Any) -> None:
        # The logger's service is what changes the log level while the node runs.
        super().__init__(name, enable_logger_service=True, **arguments)
        self.failure: ProcessError | None = None  # why the last transition failed
        self.active = self.finalized = False
        self.values = Values()
        self._coming_up = False
        self._timers_of_activity: list[Any] = []
        self._made: Entities | None = None

    def create_lifecycle_publisher(self, kind: Any, topic: str, profile: Any, **more: Any) -> Any:
        """As of every publisher in ROS; parameters may override its QoS (`qos_overrides.<topic>.publisher.depth`)."""
        # Unless the user overrides it, the profile of now counts, not that which an earlier publisher of the topic left
        # in the parameters.
        prefix = f"qos_overrides.{self.resolve_topic_name(topic)}.publisher."
        given = any(name.startswith(prefix) for name in self._parameter_overrides)
        first = not self.has_parameter(f"{prefix}depth")
        options = QoSOverridingOptions.with_default_policies() if given or first else None
        return super().create_lifecycle_publisher(kind, topic, profile, qos_overriding_options=options, **more)

    def create_timer(self, period_s: float, callback: Callable[[], None], **more: Any) -> Any:
        """By a clock that nobody sets: one by the system's own stands still for as long as that is set back. With
        `use_sim_time` by that of the simulation."""
        if not self.get_clock().ros_time_is_active:
            more.setdefault("clock", Clock(clock_type=ClockType.STEADY_TIME))
        return super().create_timer(period_s, callback, **more)

    def get_logger(self) -> Any:
        """Its logger, which makes one line of whatever it is given."""
        return LineLogger(super().get_logger())

    def _LifecycleNodeMixin__on_change_state(self, request: Any, response: Any) -> Any:  # noqa: N802
        """In place of rclpy's own, whose executor ends by a transition that the state does not have."""
        transition = request.transition
        offered = self._state_machine.available_transitions
        if not transition.label and transition.id not in {each[0] for each in offered}:
            names = ", ".join(f"{each[1]} ({each[0]})" for each in offered)
            _, state = self._state_machine.current_state
            self.get_logger().warning(f"No transition {transition.id} of a node that is {state}; there are: {names}.")
            response.success = False
            return response
        return super()._LifecycleNodeMixin__on_change_state(request, response)

    # --- what a class says ---

    def offer(self) -> None:
        """Make what the configured node publishes, and its timers: the first step of configure. Cleanup destroys it.

        What a node without a configuration must answer is made by its constructor instead.
        """

    def set_up(self) -> None:
        """Make what depends on the parameters in `self.values`. What is subscribed to here, cleanup destroys."""

    def begin(self) -> None:
        """Start to work. The topics are open already, the timers made by `every` start afterwards."""

    def end(self) -> None:
        """Stop working; also called after a `begin` that failed, and more than once."""

    def tear_down(self) -> None:
        """Let go of what `set_up` made; also called after one that failed, and more than once."""

    def read_parameters(self) -> None:
        """Take the parameters as they are now into `self.values`. Raises ParameterError."""
        self.values = check(self.get_name(), self._wanted, self.asked_parameters(), self._siblings)

    def refused(self, error: Exception) -> ProcessError:
        """One of `refusals` as what the process ends with when it happens at the start."""
        return error if isinstance(error, ProcessError) else ProcessError(one_line(error))

    # --- what it may use ---

    def take_parameters(self, wanted: Iterable[ParameterSpec], siblings: Iterable[str] = ()) -> None:
        """Check what the user gave and declare it; see `parameters.check`. Raises ParameterError."""
        self._wanted = [AUTOSTART, *wanted]
        self._siblings = list(siblings)
        self.values = check(self.get_name(), self._wanted, given_parameters(self), self._siblings)
        self.declare_settable(self._wanted, self.values)

    def declare_settable(
        self, wanted: Iterable[ParameterSpec], values: dict[str, Any], fixed: Iterable[str] = ()
    ) -> None:
        """Declare parameters with these values; `autostart` and those of `fixed` cannot be set later."""
        specs = list(wanted)
        declare(self, specs, values, fixed={AUTOSTART.name, *self.fixed, *fixed})
        self._settable = Settable(self, specs, self.take_live, self.why_not)

    def take_live(self, name: str, value: Any) -> bool:
        """Let a live parameter's new value count now; False where nothing works yet that it could count for."""
        return False

    def why_not(self, name: str, value: Any) -> str:
        """Why a parameter must not be set to what is within its bounds, one sentence, since the next configure would
        refuse it; "" if it may."""
        return ""

    def asked_parameters(self) -> dict[str, Any]:
        """What the user gave, and what was set since."""
        return {**given_parameters(self), **self._settable.changed}

    @property
    def autostart(self) -> bool:
        """Whether the process configures and activates the node at its start."""
        return bool(self.get_parameter(AUTOSTART.name).value)

    def every(self, period_s: float, callback: Callable[[], None]) -> Any:
        """A timer that runs while the node is active."""
        timer = self.create_timer(period_s, callback)
        timer.cancel()
        self._timers_of_activity.append(timer)
        return timer

    def replace_publisher(self, old: Any, kind: Any, topic: str, profile: Any) -> Any:
        """Another publisher of the same topic, as active as the old one, which is destroyed."""
        made = self.another_publisher(old, kind, topic, profile)
        self.destroy_lifecycle_publisher(old)
        return made

    def another_publisher(self, old: Any, kind: Any, topic: str, profile: Any) -> Any:
        """As `replace_publisher`, but the old one stays, for the caller to destroy."""
        made = self.create_lifecycle_publisher(kind, topic, profile)
        if old.is_activated:
            made.on_activate(None)
        return made

    def close(self) -> None:
        """Stop working before the process ends, whatever the state."""
        self.active = False
        self.end()

    # --- lifecycle ---

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the parameters, and make publishers, timers and what depends on the parameters."""
        self._made = Entities(self)
        if not self._succeeds(self._configure):
            self._let_go()
            return FAILURE
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the topics, then start to work."""
        super().on_activate(state)
        if not self._succeeds(self.begin):
            self.end()
            super().on_deactivate(state)
            return FAILURE
        for timer in self._timers_of_activity:
            timer.reset()
        self.active = True
        return SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop working, then close the topics."""
        self._rest()
        self.get_logger().warning(f"Deactivated: {self.at_rest}.")
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget what the parameters said, and withdraw what configure made."""
        self._let_go()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop for good."""
        self._rest()
        self._let_go()
        self.finalized = True
        return super().on_shutdown(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """After a fault of ours: back to the start, from where it can be configured again."""
        self._rest()
        super().on_deactivate(state)
        self._let_go()
        return super().on_error(state)

    def destroy_node(self) -> None:
        """Free the node, so that it leaves the ROS graph at once."""
        # rclpy does not free the state machine of a LifecycleNode, which holds the node: without this others would see
        # it until the lease of a participant that fell silent is over, some 20 s.
        self._state_machine.destroy_when_not_in_use()
        super().destroy_node()

    def _configure(self) -> None:
        self.read_parameters()
        self.offer()
        self.set_up()

    def _rest(self) -> None:
        self.active = False
        for timer in self._timers_of_activity:
            timer.cancel()
        self.end()

    def _let_go(self) -> None:
        self.end()
        self.tear_down()
        made, self._made = self._made, None
        if made is not None:
            made.destroy()
            self._timers_of_activity.clear()

    def _succeeds(self, step: Callable[[], None]) -> bool:
        """Run one step of a transition; a refusal is kept in `failure`, and logged unless `bring_up` hands it on."""
        try:
            step()
        except self.refusals as error:
            self.failure = self.refused(error)
            if not self._coming_up:
                self.get_logger().error(one_line(self.failure))
            return False
        except Exception as error:  # rclpy would swallow it
            self.get_logger().error(f"unexpected: {type(error).__name__}: {one_line(error)}")
            raise
        self.failure = None
        return True


class Entities:
    """What a node subscribes to, offers, asks and publishes from now on, so that it can be destroyed together."""

    def __init__(self, node: Any) -> None:
        self._node = node
        self._before = [entity for kind, _ in self._kinds() for entity in kind]

    def destroy(self) -> None:
        """Destroy what has come since."""
        node, before = self._node, set(map(id, self._before))
        for kind, destroy in self._kinds():
            for entity in list(kind):
                if id(entity) not in before:
                    lifecycle = isinstance(entity, LifecyclePublisher)
                    (node.destroy_lifecycle_publisher if lifecycle else destroy)(entity)

    def _kinds(self) -> list[tuple[Iterable[Any], Callable[[Any], Any]]]:
        node = self._node
        return [
            (node.subscriptions, node.destroy_subscription),
            (node.clients, node.destroy_client),
            (node.services, node.destroy_service),
            (node.timers, node.destroy_timer),
            (node.publishers, node.destroy_publisher),
        ]


def bring_up(node: ManagedNode) -> None:
    """Configure and activate. Raises ProcessError with the sentence of the step that failed."""
    node._coming_up = True
    try:
        for trigger in (node.trigger_configure, node.trigger_activate):
            if trigger() != SUCCESS:
                raise node.failure or ProcessError(f"{node.get_name()} could not be started.", ExitCode.FAILED)
    finally:
        node._coming_up = False


@contextmanager
def serving(executor: Spun, makers: Iterable[Callable[[], Any]]) -> Iterator[list[Any]]:
    """Nodes in an executor for the time of the block. Those with `autostart` are brought up first, in order.

    At its end each stops working before any of them is destroyed. Raises ProcessError.
    """
    with Spinner(executor) as spinner, ExitStack() as ends:
        nodes = []
        for make in makers:
            node = make()
            spinner.add(node)
            ends.callback(node.close)
            nodes.append(node)
        for node in nodes:
            if node.autostart:
                bring_up(node)
        spinner.start()
        yield nodes
