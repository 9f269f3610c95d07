"""Firefox by Marionette, its own protocol for tests."""

import itertools
import json
import re
import socket
import subprocess
import sys
import time

# The longest time without an answer, and to start. axe-core takes longer than in Chromium.
SECONDS = 300

# The size of a window in which the page's can be chosen.
WINDOW = (1600, 1200)


class Firefox:
    """A headless Firefox with one page. `command` runs Firefox; its options are appended. The profile has 0 as `marionette.port`."""

    def __init__(self, command, log):
        options = ["--headless", "--marionette", "--remote-allow-system-access"]
        self.process = subprocess.Popen([*command, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.socket = socket.create_connection(("127.0.0.1", self.port(log.name)), SECONDS)
            self.numbers = itertools.count(1)
            self.buffer = b""
            self.message()
            self.call("WebDriver:NewSession", strictFileInteractability=False)
            self.call("WebDriver:SetTimeouts", script=1000 * SECONDS, pageLoad=1000 * SECONDS)
            self.call("WebDriver:SetWindowRect", width=WINDOW[0], height=WINDOW[1])
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def port(self, log):
        """The port that Firefox has chosen, which it prints."""
        for _ in range(10 * SECONDS):
            with open(log, errors="replace") as said:
                listening = re.search(r"Marionette\tINFO\tListening on port (\d+)", said.read())
            if listening:
                return int(listening[1])
            if self.process.poll() is not None:
                raise RuntimeError("Firefox has ended")
            time.sleep(0.1)
        raise RuntimeError(f"Firefox has not started in {SECONDS} seconds")

    def call(self, command, **parameters):
        """The result of a command."""
        number = next(self.numbers)
        text = json.dumps([0, number, command, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        while True:
            _, answered, error, result = self.message()
            if answered == number:
                if error:
                    raise RuntimeError(f"{command}: {error['error']}: {error['message']}")
                return result

    def message(self):
        """The next message: its length, a colon, JSON."""
        length = None
        while length is None or len(self.buffer) < length:
            try:
                part = self.socket.recv(1 << 16)
            except TimeoutError:
                raise RuntimeError(f"Firefox has not answered for {SECONDS} seconds") from None
            if not part:
                raise RuntimeError("Firefox has ended")
            self.buffer += part
            if length is None and b":" in self.buffer:
                digits, _, self.buffer = self.buffer.partition(b":")
                length = int(digits)
        text, self.buffer = self.buffer[:length], self.buffer[length:]
        return json.loads(text)

    def in_window(self, script, *arguments):
        """Runs a script where Firefox's own run."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            self.call("WebDriver:ExecuteScript", script=script, args=arguments)
        finally:
            self.call("Marionette:SetContext", value="content")

    def look(self, url, width, height, scheme):
        """Opens a page in a window of this size, in the colour scheme `light` or `dark`."""
        self.in_window(
            """
            const [width, height, scheme] = arguments;
            Object.assign(gBrowser.selectedBrowser.style, { width: `${width}px`, maxWidth: `${width}px`, height: `${height}px`, maxHeight: `${height}px` });
            Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', scheme === 'dark' ? 0 : 1);
            """,
            width,
            height,
            scheme,
        )
        # The same page with another fragment would not be loaded again.
        self.call("WebDriver:Navigate", url="about:blank")
        self.call("WebDriver:Navigate", url=url)
        has = self.run("return [innerWidth, innerHeight, matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'];")
        if has != [width, height, scheme]:
            raise RuntimeError(f"the page has {has} instead of {[width, height, scheme]}")

    def cores(self, count):
        """Pages that are opened from now on are told that the computer has this many cores."""
        script = """
            addEventListener('DOMWindowCreated', ({ target }) => {
              Object.defineProperty(target.defaultView.navigator.wrappedJSObject, 'hardwareConcurrency', { value: COUNT });
            });
        """.replace("COUNT", str(count))
        self.in_window(
            "Services.mm.loadFrameScript(`data:text/javascript,${encodeURIComponent(arguments[0])}`, true);",
            script,
        )

    def run(self, script):
        """The value of a script, which may await."""
        result = self.call(
            "WebDriver:ExecuteAsyncScript",
            script="""
                const [script, done] = arguments;
                window.eval(script).then((value) => done({ value }), (error) => done({ error: String(error) }));
            """,
            args=[f"(async () => {{{script}}})()"],
        )["value"]
        if "error" in result:
            raise RuntimeError(result["error"])
        return result.get("value")

    def screenshot(self):
        """What the window shows, as a PNG image in base64."""
        return self.call("WebDriver:TakeScreenshot", full=False)["value"]

    def close(self):
        """Ends Firefox, which writes to its profile until then."""
        try:
            self.call("Marionette:Quit", flags=["eForceQuit"])
            self.process.wait(SECONDS)
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            print(f"Firefox is killed: {error}", file=sys.stderr)
        self.process.kill()
        self.process.wait()
