#!/usr/bin/env python3
"""A program as a model: after an odd number of b a word may not end."""

import json
import sys

for line in sys.stdin:
    words = json.loads(line)["words"]
    rows = [[0.0, 0.5, 0.5] if word.count("b") % 2 else [0.4, 0.3, 0.3] for word in words]
    print(json.dumps({"rows": rows}), flush=True)
