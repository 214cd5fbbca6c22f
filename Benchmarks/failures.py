"""Describes briefly why a child process gave no figures."""

import pathlib
import subprocess

# The failures of a child process and of the line that it prints.
KINDS = (subprocess.SubprocessError, FileNotFoundError, ValueError, KeyError)


def words(error):
    if isinstance(error, subprocess.CalledProcessError):
        last = error.stderr.strip().splitlines()[-1:]
        return last[0] if last else f"ended with status {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"still running after {error.timeout} s"
    if isinstance(error, FileNotFoundError):
        return f"{pathlib.Path(error.filename).name} does not exist"
    return f"unreadable result: {error}"
