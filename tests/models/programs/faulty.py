"""A program that answers like a PDFA, but for faults: python faulty.py TABLES LOG FAULTS.

FAULTS is ``none``; a kind of fault, for each batch; ``KIND@N``, for the N-th batch alone; or
``seed=S``, for about half of all batches. It starts in no time, as it imports next to nothing.
"""

import os
import sys
import time

QUICK = ("dies", "killed", "garbage", "half", "few", "many", "flood", "extra", "list")
SLOW = ("hang", "half hang", "children", "mute")
ANY = QUICK * 24 + SLOW
TABLES, LOG, FAULTS = [*sys.argv[1:], "", "", ""][:3]


def note(event: str) -> None:
    file = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{event} {os.getpid()}\n".encode())
    os.close(file)


def fault_of(batch: int) -> str | None:
    if FAULTS.startswith("seed="):
        number = int(FAULTS.removeprefix("seed=")) * 1_000_003 + batch
        for _ in range(4):
            number = (number * 6364136223846793005 + 1442695040888963407) % 2**64
            number ^= number >> 29
        return ANY[(number >> 8) % len(ANY)] if number % 2 else None
    kind, _, at = FAULTS.partition("@")
    return None if kind == "none" or (at and int(at) != batch) else kind


def distribution(word: list[str], tables: dict[str, list[list[float]]]) -> list[float] | None:
    state = 0.0
    for symbol in word:
        state = tables["transitions"][int(state)][tables["symbols"].index(symbol)]  # type: ignore[arg-type]
        if state < 0:
            return None
    return tables["probabilities"][int(state)]


def misbehave(kind: str, answer: str) -> None:
    """Do something wrong instead of answering."""
    note(kind.replace(" ", "-"))
    if kind == "dies":
        sys.exit("no more memory")
    if kind == "killed":
        os.kill(os.getpid(), 9)
    if kind == "children" and os.fork() == 0:
        note("child")
    if kind in ("half", "half hang"):
        sys.stdout.write(answer[: len(answer) // 2])
    if kind == "flood":
        for _ in range(100):
            sys.stdout.write("1" * 2**20)
    if kind == "mute":
        os.close(1)
    if kind == "extra":
        # In one call, so that both lines are there when the first is read.
        os.write(1, f'{answer}\n{{"rows": []}}\n'.encode())
    if kind == "garbage":
        sys.stdout.write("\x1b[31mLoading \udc80\n")
    sys.stdout.flush()
    if kind == "half":
        sys.exit(0)
    if kind in ("hang", "half hang", "children", "mute"):
        time.sleep(600)


def main() -> None:
    note("start")
    sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    with open(TABLES, encoding="utf-8") as file:  # noqa: PTH123 (pathlib takes long to import)
        tables = eval(file.read())  # noqa: S307 (json takes long to import)
    for line in sys.stdin:
        with open(LOG, encoding="utf-8") as file:  # noqa: PTH123
            batch = file.read().count("batch")
        note("batch")
        rows = [distribution(word, tables) for word in eval(line)["words"]]  # noqa: S307
        kind = fault_of(batch)
        if kind == "slow":
            time.sleep(0.2)
        elif kind == "few":
            rows.pop()
        elif kind == "many":
            rows.append(rows[-1])
        text = str(rows).replace("None", "null")
        answer = text if kind == "list" else f'{{"rows": {text}}}'
        if kind in ("few", "many", "list"):
            note(kind)
        elif kind not in (None, "slow"):
            misbehave(str(kind), answer)
            continue
        print(answer, flush=True)  # noqa: T201
    note("eof")


if __name__ == "__main__":
    main()
