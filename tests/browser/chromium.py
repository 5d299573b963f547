# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium with its network cut, driven over the DevTools protocol through a pipe.

The protocol: JSON messages, each ended by a NUL; the browser reads descriptor 3 and writes 4.
"""

import base64
import json
import os
import pathlib
import select
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--remote-debugging-pipe", "--no-default-browser-check"]
# Of our page: it listens, and there is no work on its first picture left.
DRAWN = "document.body.dataset.ready === '1' && document.body.dataset.working === '0'"


class PageError(Exception):
    pass


class Browser:
    """with Browser() as browser: one page, in an empty network namespace.

    server: "http://127.0.0.1:PORT", the only place that the browser reaches; the network is then the
    machine's, without names, and complaints() has all other addresses.
    """

    def __init__(self, width=1366, height=768, server=None):
        self.size = (width, height)
        self.server = server
        self.number = 0
        self.unread = b""
        self.events = []

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="fg-browser-")
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()
        cut = [] if self.server else ["unshare", "--net"]
        reached = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"] if self.server else []
        program = [*cut, "sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (to_read, to_write),
                   "sh", "chromium", *FLAGS, *reached, f"--user-data-dir={self.directory.name}",
                   "about:blank"]
        with open(pathlib.Path(self.directory.name) / "log", "wb") as log:
            self.child = subprocess.Popen(program, pass_fds=(to_read, to_write), stdout=log,
                                          stderr=log, start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        target = next(t for t in self.ask("Target.getTargets")["targetInfos"]
                      if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"],
                                flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(*self.size)
        return self

    def __exit__(self, *_):
        try:
            self.ask("Browser.close")
            self.child.wait(10)
        except (PageError, subprocess.TimeoutExpired, OSError):
            os.killpg(self.child.pid, 9)
            self.child.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.directory.cleanup()

    def message(self, deadline):
        while b"\0" not in self.unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                raise PageError("the browser does not answer")
            got = os.read(self.read_end, 1 << 20)
            if not got:
                raise PageError("the browser has ended")
            self.unread += got
        text, _, self.unread = self.unread.partition(b"\0")
        return json.loads(text)

    def ask(self, method, session=None, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        deadline = time.monotonic() + 30
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise PageError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def call(self, method, **parameters):
        return self.ask(method, self.session, **parameters)

    def resize(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def run(self, script, **where):
        """The value of a JavaScript expression, a promise's result included."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True, userGesture=True, **where)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description", str(details)))
        return answer["result"].get("value")

    def run_in_frame(self, script):
        """The same in the page's first frame; its context may have been told before."""
        frame = self.call("Page.getFrameTree")["frameTree"]["childFrames"][0]["frame"]["id"]
        contexts = [event["params"]["context"] for event in self.events
                    if event["method"] == "Runtime.executionContextCreated"]
        return self.run(script, contextId=[context["id"] for context in contexts if
                                           context["auxData"]["frameId"] == frame][-1])

    def open(self, path, fragment="", ready=DRAWN):
        """Shows a file; ready, a JavaScript expression, is waited for."""
        self.open_url(pathlib.Path(path).resolve().as_uri() + fragment, ready)

    def open_url(self, url, ready):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + 30
        while not self.run(f"document.documentElement && location.protocol !== 'about:' && "
                           f"document.readyState === 'complete' && Boolean({ready})"):
            failed = self.run("(document.querySelector('.failed') || {}).textContent")
            if failed or time.monotonic() > deadline:
                raise PageError(failed or "the page is not ready after 30 s")
            time.sleep(0.02)

    def wait_for(self, expression):
        """What a JavaScript expression comes to, once it is true."""
        deadline = time.monotonic() + 20
        while True:
            value = self.run(expression)
            if value:
                return value
            if time.monotonic() > deadline:
                raise PageError(f"{expression} never came true")
            time.sleep(0.02)

    def wait_for_event(self, method, **parameters):
        """The parameters of one that has these; it may have come before."""
        deadline = time.monotonic() + 20
        while True:
            for event in self.events:
                if event["method"] == method and parameters.items() <= event["params"].items():
                    return event["params"]
            event = self.message(deadline)
            if "method" in event:
                self.events.append(event)

    def downloaded(self, script):
        """(name, content) of the file that a script has the page save."""
        into = pathlib.Path(self.directory.name) / "downloads"
        self.ask("Browser.setDownloadBehavior", behavior="allowAndName", downloadPath=str(into),
                 eventsEnabled=True)
        self.events = [event for event in self.events if "download" not in event["method"]]
        self.run(script)
        begun = self.wait_for_event("Browser.downloadWillBegin")
        self.wait_for_event("Browser.downloadProgress", guid=begun["guid"], state="completed")
        return begun["suggestedFilename"], (into / begun["guid"]).read_bytes()

    def frames(self):
        """Waits for two frames to be painted."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                  clickCount=1 if kind != "mouseMoved" else 0, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)
        self.frames()

    def key(self, name, **more):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, **more)
        self.frames()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.frames()

    def screenshot(self, path):
        shot = self.call("Page.captureScreenshot", format="png")
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """Errors of scripts, refusals of the policy, and whatever asked for the network."""
        found = []
        for event in self.events:
            kind, details = event["method"], event["params"]
            if kind == "Runtime.exceptionThrown":
                found.append(details["exceptionDetails"])
            elif kind == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
                found.append(details["entry"]["text"])
            elif kind == "Network.requestWillBeSent" and not details["request"]["url"].startswith(
                    ("file:", "about:", "blob:", *([self.server + "/"] if self.server else []))):
                found.append(details["request"]["url"])
        return found
