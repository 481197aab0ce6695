"""A headless Chromium, driven through its debugging pipe, so that nothing but Python and Chromium is needed."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

SKIPPED = 77


def chromium():
    """The browser's program; None if there is none."""
    return next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)


class Browser:
    """A browser with one page. It remembers what the page complains of and what it asks for."""

    def __init__(self):
        self.profile = tempfile.mkdtemp()
        to_browser, ours = os.pipe()
        theirs, from_browser = os.pipe()

        def place():
            os.dup2(to_browser, 63)
            os.dup2(from_browser, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        words = [chromium(), "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--hide-scrollbars", "--disable-gpu", "--no-first-run",
                 "--disable-background-networking", "--user-data-dir=" + self.profile, "about:blank"]
        self.process = subprocess.Popen(words, preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.input, self.output = os.fdopen(ours, "wb", 0), theirs
        self.buffer, self.number, self.session = b"", 0, None
        self.complaints, self.requests, self.dialogs = [], [], []
        target = next(one for one in self.ask("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility"]:
            self.ask(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, method, **parameters):
        """Sends a command, and waits for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.input.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def receive(self):
        while b"\0" not in self.buffer:
            block = os.read(self.output, 1 << 20)
            if not block:
                raise RuntimeError("the browser has ended")
            self.buffer += block
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(str([one.get("value") for one in parameters["args"]]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"] + " " + parameters["entry"].get("url", ""))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(parameters["message"])
            self.number += 1
            self.input.write(json.dumps({"id": self.number, "method": "Page.handleJavaScriptDialog", "params": {"accept": True},
                                         "sessionId": self.session}).encode() + b"\0")

    def open(self, url, width=1280, height=900, dark=False, density=1):
        """Opens an address, and waits until it is loaded.

        Returns seconds."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=density, mobile=width < 500)
        self.scheme(dark)
        start = time.monotonic()
        self.ask("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")
        return time.monotonic() - start

    def scheme(self, dark):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def run(self, script):
        """The value of an expression; a promise is awaited."""
        result = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", script))
        return result["result"].get("value")

    def until(self, condition, seconds=20):
        end = time.monotonic() + seconds

        def holds():
            try:
                return self.run(condition)
            except RuntimeError as error:
                # The page was left while it was asked; the next one is asked again.
                if "navigated" not in str(error):
                    raise
                return False

        while not holds():
            if time.monotonic() > end:
                raise RuntimeError("never: " + condition)
            time.sleep(0.02)

    def press(self, key, code=0, text=None):
        """Presses a key as a person does."""
        keys = {"ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "End": 35, "Home": 36, "Escape": 27, "Tab": 9, "Enter": 13,
                "PageDown": 34}
        down = {"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": keys.get(key, code)}
        if key == "Enter":
            down["text"] = "\r"
        self.ask("Input.dispatchKeyEvent", **down)
        self.ask("Input.dispatchKeyEvent", **{**down, "type": "keyUp"})

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def picture(self, path, whole=False):
        """Takes a picture of the page."""
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def nameless(self):
        """Controls without a name for those who do not see them."""
        roles = {"button", "textbox", "searchbox", "combobox", "slider", "link", "checkbox", "table", "dialog", "image"}
        nodes = self.ask("Accessibility.getFullAXTree")["nodes"]
        return [node["role"]["value"] for node in nodes if not node.get("ignored") and node.get("role", {}).get("value") in roles
                and node["role"]["value"] != "table" and not node.get("name", {}).get("value")]

    def faint(self):
        """Texts whose contrast to what is below them is less than 4.5."""
        return self.run(CONTRAST)


# The first opaque background of an element and those around it is what its text is on.
CONTRAST = """(() => {
  const parse = color => (color.match(/[\\d.]+/g) || []).map(Number);
  const light = color => color.slice(0, 3).map(part => part / 255).map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const below = element => {
    for (let one = element; one; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color.length === 3 || color[3] > 0.5) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!text || !element.getClientRects().length || ['SCRIPT', 'STYLE', 'OPTION', 'NOSCRIPT', 'TITLE'].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const [front, back] = [light(parse(element.namespaceURI.endsWith('svg') ? style.fill : style.color)), light(below(element))];
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (ratio < 4.5) found.push(`${element.tagName} '${element.textContent.slice(0, 30)}' ${ratio.toFixed(2)}`);
  }
  return found;
})()"""
