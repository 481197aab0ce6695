"""Builds the shim that lets calls fail or records them; failing-calls.c says what it can do."""
import os
import shutil
import subprocess

from experiment import Skipped
from mill import HERE


def shim(folder):
    """Its path; it is in the folder."""
    if not shutil.which("cc"):
        raise Skipped("there is no C compiler")
    path = os.path.join(folder, "failing-calls.so")
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O2", "-pthread", "-o", path, os.path.join(HERE, "failing-calls.c"), "-ldl"], check=True)
    return path
