# SPDX-License-Identifier: Apache-2.0
"""Published tables with readable headings."""

import csv
import re
from functools import cache

import pandas as pd

from pqc_mav_bench.analysis.published import source
from pqc_mav_bench.report.blocks import PUBLISHED, Table
from pqc_mav_bench.report.report_input import published_source
from pqc_mav_bench.report.shipped import asset


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


#: Endings of column names and the unit they stand for.
_UNITS = _pairs(
    "_ms=ms _us=µs _s=s _pct=% _Mbps=Mb/s _W=W _J=J _nJ=nJ/bit _MiB=MiB _MB=MB _kB=kB _bytes=B _Hz=Hz _GHz=GHz "
    "_C=°C _V=V _min=min"
)
#: How readers write parts of column names.
_WORDS = _pairs(
    "kem=KEM sig=Signature aead=AEAD nist=NIST cpu=CPU rss=RSS rtt=RTT phi=Φ os=OS ip=IP ram=RAM avg=average "
    "n=n ddos=DDoS pqc=PQC mavlink=MAVLink rekeys=rekeys aesgcm=AES-256-GCM soc=SoC ascon=Ascon ok=OK"
)
#: Columns that only say how the document printed a name.
_HIDDEN = {"printed_as", "suite_token_printed_in_documents", "sig_suite_token", "short_code"}


def heading(column: str) -> str:
    """A column name as a table heading, its unit in brackets: 'handshake_min_ms' -> 'Handshake min (ms)'."""
    stem, unit = column, ""
    for ending in sorted(_UNITS, key=len, reverse=True):
        # 'handshake_min' is a minimum, 'flight_min' minutes.
        if column.endswith(ending) and not (ending == "_min" and not column.startswith("flight")):
            stem, unit = column.removesuffix(ending), _UNITS[ending]
            break
    stem = re.sub(r"R(\d+)s", r"R = \1 s", stem)
    words = [_WORDS.get(word, word) for word in stem.split("_")]
    text = " ".join(words)
    text = text[0].upper() + text[1:] if not text.startswith("Φ") else text
    return f"{text} ({unit})" if unit else text


@cache
def _codes() -> dict[str, str]:
    """Short code by the id of a published suite."""
    return {row["suite"]: row["short_code"] for row in source.text_rows("derived_short_codes_30")}


def published_frame(name: str) -> pd.DataFrame:
    """A published table as the report shows it: cells as printed, suites by short code, headings readable."""
    codes = _codes()
    rows = pd.DataFrame({key: codes.get(text, text) for key, text in row.items()} for row in source.text_rows(name))
    kept = [column for column in rows.columns if column not in _HIDDEN]
    return rows[kept].rename(columns=heading)


@cache
def _tables() -> dict[str, tuple[str, str, str]]:
    """The published tables of the page: what, where in the documents, and file, by their keys."""
    rows = csv.reader(asset("published_tables.csv").splitlines())
    return {key: (what, where, file) for key, what, where, file in rows}


def published(key: str) -> Table:
    """A published table by its key on the page, folded, with its provenance."""
    return published_table(key, *_tables()[key])


def published_table(key: str, what: str, where: str, name: str) -> Table:
    """The published table `name`, folded, with its provenance."""
    title = f"{what}, published, {where}" if what else f"Published, {where}"
    return Table(key, title, published_frame(name), PUBLISHED, published_source(name), folded=True)
