"""Chromium by its debugging protocol, over a pipe."""

import itertools
import json
import os
import select
import subprocess
import time


# The longest time without an answer.
SECONDS = 90


class Chromium:
    """A headless Chromium with one page. `command` runs Chromium; its options are appended."""

    def __init__(self, command, log):
        ours_read, its_write = os.pipe()
        its_read, ours_write = os.pipe()

        # Chromium reads from descriptor 3 and writes to 4.
        def descriptors():
            read, write = os.dup(its_read), os.dup(its_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(
            [*command, *options, "about:blank"], preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        os.close(its_read)
        os.close(its_write)
        self.write, self.read = ours_write, os.fdopen(ours_read, "rb")
        self.numbers = itertools.count(1)
        self.buffer = b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **parameters):
        """The result of a method. Events are passed over."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.write, text) :]
        while True:
            answer = self.message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def message(self):
        while b"\0" not in self.buffer:
            if not select.select([self.read], [], [], SECONDS)[0]:
                raise RuntimeError(f"Chromium has not answered for {SECONDS} seconds")
            part = os.read(self.read.fileno(), 1 << 16)
            if not part:
                raise RuntimeError("Chromium has ended")
            self.buffer += part
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def look(self, url, width, height, scheme):
        """Opens a page in a window of this size, in the colour scheme `light` or `dark`."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        # The same page with another fragment would not be loaded again.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        while not self.run("return location.protocol !== 'about:' && document.readyState === 'complete';"):
            time.sleep(0.05)

    def run(self, script):
        """The value of a script, which may await."""
        result = self.call("Runtime.evaluate", expression=f"(async () => {{{script}}})()", awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def cores(self, count):
        """Pages that are opened from now on are told that the computer has this many cores."""
        self.call("Emulation.setHardwareConcurrencyOverride", hardwareConcurrency=count)

    def screenshot(self):
        """What the window shows, as a PNG image in base64."""
        return self.call("Page.captureScreenshot")["data"]

    def close(self):
        self.process.kill()
        self.process.wait()
