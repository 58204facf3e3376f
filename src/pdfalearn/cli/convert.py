"""``pdfalearn convert``: from one file format to another."""

from __future__ import annotations

from pathlib import Path

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_json, print_line


@click.command(
    epilog=options.examples(
        "pdfalearn convert target.json target.npz",
        "pdfalearn convert target.npz target.json.gz",
    )
)
@click.argument("source")
@click.argument("target", type=options.FILE)
@options.json_option
def convert(source: str, target: Path, as_json: bool) -> None:
    """Turn a PDFA from one file format into another.

    The endings of SOURCE and TARGET name the formats: .json, .json.gz and .npz can be read and
    written, .dot, .svg, .png and .pdf only written. Nothing is lost between the first three:
    probabilities are kept to the last bit. Files of other programs can be read: n-gram models
    (.arpa, .arpa.gz), models of PAutomaC (.pautomac_model.txt, .pautomac) and PDFA of pythautomata
    (.pickle, .pkl, .joblib, .pythautomata).
    """
    pdfalearn.check_can_save(target)
    pdfa = automaton_of(source)
    pdfalearn.save(pdfa, target)
    if as_json:
        print_json({"source": source, "target": str(target), "states": len(pdfa)})
    else:
        print_line(f"{target}: {len(pdfa):,} states")
