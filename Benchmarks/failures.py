"""Why a child process gave no figures, in a few words."""

import pathlib
import subprocess

# What can become of a child and of the line that it prints.
KINDS = (subprocess.SubprocessError, FileNotFoundError, ValueError, KeyError)


def words(error):
    if isinstance(error, subprocess.CalledProcessError):
        last = error.stderr.strip().splitlines()[-1:]
        return last[0] if last else f"ended with status {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"still running after {error.timeout} s"
    if isinstance(error, FileNotFoundError):
        return f"{pathlib.Path(error.filename).name} is not there"
    return f"unreadable result: {error}"
