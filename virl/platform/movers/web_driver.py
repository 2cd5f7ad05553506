"""Runs chromedriver and ends it, with its browser, once standard input ends: its user is gone then.

A process that is killed cannot close its browser. This one outlives it for long enough; run as a script.
"""

import os
import shutil
import signal
import subprocess  # nosec B404
import sys
from contextlib import suppress
from threading import Event, Thread


def main(folder: str, *command: str) -> int:
    """Run a browser driver, return its exit code; when standard input ends, kill it and remove `folder`.

    Args:
        folder: path that is removed when standard input ends.
        command: path of the driver and its arguments.
    """
    is_alone = Event()
    driver = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603 # nosec B603

    def end(*_: object) -> None:
        """End the driver and its browser by killing their process group, as a signal handler too."""
        with suppress(ProcessLookupError):
            os.killpg(driver.pid, signal.SIGKILL)

    def end_when_alone() -> None:
        """Wait until standard input ends, then kill the driver and remove the folder."""
        while os.read(sys.stdin.fileno(), 1024):  # until its end
            pass
        is_alone.set()
        end()
        shutil.rmtree(folder, ignore_errors=True)

    signal.signal(signal.SIGTERM, end)
    watch = Thread(target=end_when_alone, daemon=True)
    watch.start()
    code = driver.wait()
    end()  # a browser that the driver has left behind
    if is_alone.is_set():
        watch.join()
    return abs(code)


if __name__ == "__main__":
    os._exit(main(*sys.argv[1:]))  # an ordinary exit would wait for what is being read
