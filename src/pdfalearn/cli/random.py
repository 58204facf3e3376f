"""``pdfalearn random``: draw a random target."""

from __future__ import annotations

from pathlib import Path

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._output import print_json, print_line


@click.command(
    epilog=options.examples(
        "pdfalearn random 300 -o target.json",
        "pdfalearn random 300 -o coins.json --distributions 2 --seed 7",
        "pdfalearn random 50 -o holes.json --zero-probability 0.3 --undefined",
        "pdfalearn random 100000 -o large.npz --symbols 4",
    )
)
@click.argument("size", type=int)
@options.output_option("Where to write it: .json, .json.gz or .npz.")
@click.option("--symbols", type=int, default=2, metavar="M", help="Size of the alphabet.")
@click.option(
    "--distributions",
    type=int,
    metavar="D",
    help="Share this many distributions among all states, instead of one for each.",
)
@click.option(
    "--zero-probability",
    type=float,
    default=0.0,
    metavar="P",
    help="Share of the symbols that get probability 0.",
)
@click.option("--undefined", is_flag=True, help="Remove the transitions of probability 0.")
@click.option("--exact-size", is_flag=True, help="Draw until there are exactly SIZE states.")
@click.option("--seed", type=options.SEED, default=0, metavar="S", help="Same seed, same PDFA.")
@options.json_option
def random(
    size: int,
    output: Path,
    symbols: int,
    distributions: int | None,
    zero_probability: float,
    undefined: bool,
    exact_size: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Draw a random PDFA of about SIZE states.

    It is the reachable part of a random automaton (Nicaud's method), so that its size varies a
    little around SIZE. The symbols are 0, 1, and so on; the distributions are drawn uniformly.
    """
    pdfalearn.io.check_can_save(output)
    pdfa = pdfalearn.datasets.random_pdfa(
        size,
        symbols,
        distributions=distributions,
        zero_probability=zero_probability,
        undefined=undefined,
        exact_size=exact_size,
        seed=seed,
    )
    pdfalearn.save(pdfa, output)
    if as_json:
        print_json({"output": str(output), "states": len(pdfa), "symbols": symbols, "seed": seed})
    else:
        print_line(f"{output}: {len(pdfa):,} states, {symbols:,} symbols, seed {seed}")
