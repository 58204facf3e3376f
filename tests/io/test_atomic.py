from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Thread
from typing import BinaryIO, NoReturn

import pytest

from pdfalearn import PDFA, load, save
from pdfalearn.files.named import replacing
from pdfalearn.io import saving
from tests.io.samples import ENDINGS, SMALL, load_bytes
from tests.support import without_privileges


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.json"
    path.write_text("old")
    return path


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_a_failure_in_the_middle_leaves_the_old_file(
    error: type[BaseException], old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(pdfa: PDFA, stream: BinaryIO) -> NoReturn:
        stream.write(b"half of the new")
        stream.flush()
        raise error

    monkeypatch.setitem(saving._WRITERS, ".json", write)
    with pytest.raises(error):
        save(SMALL, old)
    with pytest.raises(error):
        save(SMALL, old.with_name("new.json"))
    assert list(old.parent.iterdir()) == [old]
    assert old.read_text() == "old"


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.chmod", "pathlib.Path.replace"])
def test_a_failure_of_the_system_leaves_the_old_file(
    step: str, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(step, fail)
    with pytest.raises(OSError, match="No space left"):
        save(SMALL, old)
    assert list(old.parent.iterdir()) == [old]
    assert old.read_text() == "old"


def test_the_old_file_is_there_until_the_new_one_is_whole(old: Path) -> None:
    with replacing(old) as stream:
        stream.write(b"new")
        stream.flush()
        assert old.read_text() == "old"
    assert old.read_text() == "new"
    assert list(old.parent.iterdir()) == [old]


def test_links_are_followed(old: Path) -> None:
    link = old.with_name("link.json")
    link.symlink_to(old.name)
    dangling = old.with_name("dangling.json")
    dangling.symlink_to("made.json")
    for path in (link, dangling):
        save(SMALL, path)
        assert path.is_symlink()
    assert load(old) == load(old.with_name("made.json")) == SMALL


def test_a_circle_of_links(tmp_path: Path) -> None:
    (tmp_path / "x.json").symlink_to("x.json")
    with pytest.raises(OSError, match=r"x\.json"):
        save(SMALL, tmp_path / "x.json")


def test_modes(old: Path) -> None:
    old.chmod(0o640)
    save(SMALL, old)
    assert mode_of(old) == 0o640
    before = os.umask(0o027)
    try:
        save(SMALL, old.with_name("new.json"))
    finally:
        os.umask(before)
    assert mode_of(old.with_name("new.json")) == 0o640
    save(SMALL, old.with_name("usual.json"))
    assert mode_of(old.with_name("usual.json")) == 0o666 & ~before


def test_a_file_that_may_not_be_written_is_not_replaced() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "protected.json")
        path.write_text("old")
        path.chmod(0o444)
        Path(folder).chmod(0o777)
        with without_privileges(), pytest.raises(PermissionError, match=r"protected\.json"):
            save(SMALL, path)
        assert path.read_text() == "old"
        assert list(Path(folder).iterdir()) == [path]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_pipe_is_written_to(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"pipe{ending}"
    os.mkfifo(path)
    received: list[bytes] = []
    reader = Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    save(SMALL, path)
    reader.join()
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]
    assert load_bytes(received[0], ending, tmp_path) == SMALL


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_standard_output_is_written_to(ending: str, tmp_path: Path) -> None:
    link = tmp_path / f"link{ending}"
    link.symlink_to("/dev/stdout")
    program = (
        "import sys, pdfalearn\n"
        "pdfa = pdfalearn.PDFA(alphabet='a', transitions=[[0]], probabilities=[[0.5, 0.5]])\n"
        "pdfalearn.save(pdfa, sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", program, link], capture_output=True, check=True)
    assert len(load_bytes(done.stdout, ending, tmp_path)) == 1
    assert link.is_symlink()
