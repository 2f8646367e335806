"""permitd_step.py FOLDER propose COUNT | approve PERMIT... | execute PERMIT...: takes this step of
permitd so often. `propose` prints the permits."""

import sys
from pathlib import Path

from peers import ARGS, kernel, nothing

folder, step, *words = sys.argv[1:]
permits = kernel(Path(folder))
if step == "propose":
    print(*(permits.propose("send", ARGS).id for _ in range(int(words[0]))))
for permit in words:
    if step == "approve":
        permits.approve(permit)
    if step == "execute":
        assert permits.execute("send", ARGS, permit, nothing)
