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
        "pdfalearn convert target.json target.drn",
        "pdfalearn convert target.json intervals.drn --kappa 1000",
    )
)
@click.argument("source")
@click.argument("target", type=options.FILE)
@click.option(
    "--kappa",
    type=int,
    metavar="K",
    help="For .drn: write of every probability which of K intervals it is in.",
)
@options.json_option
def convert(source: str, target: Path, kappa: int | None, as_json: bool) -> None:
    """Turn a PDFA from one file format into another.

    The endings of SOURCE and TARGET name the formats: .json, .json.gz, .npz and .dot can be read
    and written, .zip (runs and frontiers) only read, and .svg, .png, .pdf and .html only written.
    Nothing is lost between the first four: probabilities are kept to the last bit. Files of other
    programs can be read: n-gram models (.arpa, .arpa.gz), models of PAutomaC (.pautomac_model.txt,
    .pautomac) and PDFA of pythautomata (.pickle, .pkl, .joblib, .pythautomata); or written: .pm for
    PRISM, .drn for Storm, .att and .syms for OpenFst, .mc.dot for AALpy, and those of PAutomaC.
    """
    pdfalearn.io.check_can_save(target)
    pdfa = automaton_of(source)
    if kappa is None:
        pdfalearn.save(pdfa, target)
    else:
        pdfalearn.analysis.save_intervals(pdfa, target, equivalence=pdfalearn.Quantization(kappa))
    if as_json:
        print_json({"source": source, "target": str(target), "states": len(pdfa)})
    else:
        print_line(f"{target}: {len(pdfa):,} states")
