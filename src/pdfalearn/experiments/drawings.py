"""Which figures a report has, and how learners look in them."""

from __future__ import annotations

from dataclasses import dataclass

from pdfalearn.experiments.definitions import EXPERIMENTS

PAPER_SLOPE = 0.2
"""The paper: QuaNT's speed-up over L_p* is about 0.2 n."""
SPEED_UP = "speed-up"


@dataclass(frozen=True)
class Style:
    """A learner's name, a colour of Okabe and Ito's palette, a marker and a line."""

    label: str
    colour: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]
    """As Matplotlib takes it: a name, or an offset and the lengths of dashes and gaps."""


STYLES = {
    "quant": Style("QuaNT", "#0072B2", "o", "-"),
    "quant-classes": Style("QuaNT, classes", "#56B4E9", "v", (0, (5, 1))),
    "quant-paper": Style("plain QuaNT", "#CC79A7", "s", "--"),
    "lpstar": Style("L_p*", "#D55E00", "^", "-."),
    "wlstar": Style("WL*", "#009E73", "D", ":"),
}
"""How each learner is drawn; they are told apart in black and white, too."""

X_LABELS = {
    "states": "states of the target (actual size)",
    "symbols": "alphabet size m",
    "kappa": "quantization parameter κ",
    "distributions": "number of distributions d",
}
Y_LABELS = {
    "seconds": "median time, s",
    "structure_size": "table cells or tree nodes",
    SPEED_UP: "time of the other / time of QuaNT",
}
_SUBJECTS = {
    "seconds": "execution time",
    "structure_size": "structure size",
    SPEED_UP: "speed-up of QuaNT",
}


@dataclass(frozen=True)
class Drawing:
    """A figure: one quantity over the axis of an experiment."""

    name: str
    experiment: int
    y: str
    """A quantity of observations, or the speed-up."""

    @property
    def varies(self) -> str:
        """What is on the axis."""
        return EXPERIMENTS[self.experiment].varies

    @property
    def x(self) -> str:
        """What of observations is on the axis: targets' actual sizes, if it is sizes."""
        return "states" if self.varies == "states" else "value"

    @property
    def caption(self) -> str:
        """What is to be seen, for those who cannot see it as well."""
        over = X_LABELS[self.varies]
        text = f"Experiment {self.experiment}: {_SUBJECTS[self.y]} over {over}."
        if self.y == SPEED_UP:
            return text
        axes = "Both axes are" if self.has_logarithmic_x else "The vertical axis is"
        return f"{text} {axes} logarithmic."

    @property
    def has_logarithmic_x(self) -> bool:
        """Whether the horizontal axis is logarithmic; the vertical one is but for the speed-up."""
        return self.y != SPEED_UP and self.varies != "distributions"

    def caption_of(self, disturbed: bool) -> str:
        """Mark the caption of times, if runs that others were beside are among them."""
        return f"{self.caption} †" if disturbed and self.y == "seconds" else self.caption


DRAWINGS = (
    Drawing("exp1-time", 1, "seconds"),
    Drawing("exp1-structure", 1, "structure_size"),
    Drawing("exp1-speed-up", 1, SPEED_UP),
    Drawing("exp2-time", 2, "seconds"),
    Drawing("exp2-structure", 2, "structure_size"),
    Drawing("exp3-time", 3, "seconds"),
    Drawing("exp3-structure", 3, "structure_size"),
    Drawing("exp4-time", 4, "seconds"),
    Drawing("exp4-structure", 4, "structure_size"),
    Drawing("exp5-time", 5, "seconds"),
    Drawing("exp5-structure", 5, "structure_size"),
)
"""The paper's figures, and structure sizes where it has none."""
