"""Run the command line with ``python -m pdfalearn``."""

from pdfalearn.cli import main

if __name__ == "__main__":
    main()
