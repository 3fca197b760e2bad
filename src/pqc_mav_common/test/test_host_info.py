# SPDX-License-Identifier: Apache-2.0
from pqc_mav_common import host_info


def test_os_name() -> None:
    text = 'NAME="Debian GNU/Linux"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'
    assert host_info.os_name(text) == "Debian GNU/Linux 12 (bookworm)"
    assert host_info.os_name("") == ""


def test_cpu_model_on_pc_and_pi() -> None:
    assert host_info.cpu_model("processor : 0\nmodel name\t: AMD EPYC 7B13\n") == "AMD EPYC 7B13"
    assert (
        host_info.cpu_model("processor : 0\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n")
        == "Raspberry Pi 4 Model B Rev 1.4"
    )
    assert host_info.cpu_model("processor : 0\n", "Raspberry Pi 5\0") == "Raspberry Pi 5"


def test_ram() -> None:
    assert host_info.ram_mib("MemTotal:        8000000 kB\n") == 7812
    assert host_info.ram_mib("nonsense") == 0


def test_this_machine() -> None:
    facts = host_info.host_info()
    assert facts["cpu_count"] >= 1 and facts["kernel"] and facts["machine"]
