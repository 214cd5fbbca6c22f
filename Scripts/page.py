#!/usr/bin/env python3
"""Checks the page of the flight record in a headless Chromium, and the archive in the importer of its DevTools.

    page.py PROGRAM [PICTURES]      PROGRAM is the built program PageSample; PICTURES is a folder for screenshots

The browser is driven over a pipe by its debugging protocol, so the check needs no other package. It fails if a page
sends any request, if a text of an archive becomes markup, or if 5,000 calls take longer than the limits below.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

FIRST_ROWS = 5_000  # milliseconds from the navigation until rows of 5,000 calls are shown
SCROLL = 40  # milliseconds of the median of 100 jumps through 5,000 calls, each of which draws all rows in view
SEARCH = 1_000  # milliseconds of the first search through 5,000 calls

# Requests that curl cannot send, or whose URL it would take for an option or for another protocol.
WITHOUT_CURL = [
    {"url": "-K/home/u/x"}, {"url": "file:///etc/passwd"}, {"url": "gopher://h/"}, {"url": "h.example"}, {"url": ""},
    {"url": "\nhttp://h/"}, {"method": ""}, {"method": "GET -o x"}, {"method": "G\n"}, {"headers": [{"name": "X\nY"}]},
    {"headers": [{"name": "@/etc/passwd"}]}, {"headers": [{"name": "X Y", "value": "1"}]}, {"headers": [{}]},
]
HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    "<img src=http://127.0.0.1:1/x onerror=\"document.title='owned'\">",
    "javascript:document.title='owned'//",
    "\u2028\u2029\u202etxt",
    "'\"`$(touch owned)${document.title='owned'}\\(1)\n",
]


class Browser:
    """A Chromium whose debugging protocol uses the descriptors 3 and 4."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        down, self.to = os.pipe()
        self.source, up = os.pipe()

        def place():
            copies = os.dup(down), os.dup(up)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)

        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        command += [f"--user-data-dir={self.folder.name}", "--window-size=1400,860", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, preexec_fn=place, close_fds=False, **quiet)
        os.close(down)
        os.close(up)
        self.number, self.results, self.events = 0, {}, []
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while piece := os.read(self.source, 1 << 20):
            *messages, rest = (rest + piece).split(b"\0")
            with self.changed:
                for message in map(json.loads, messages):
                    if "id" in message:
                        self.results[message["id"]] = message
                    else:
                        self.events.append(message)
                self.changed.notify_all()

    def call(self, method, session=None, **parameters):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.results, 60):
                sys.exit(f"page: the browser did not reply to {method}")
            result = self.results.pop(number)
        if "error" in result:
            sys.exit(f"page: {method} failed: {result['error']['message']}")
        return result["result"]

    def wait(self, method, session):
        def arrived():
            return any(event["method"] == method and event.get("sessionId") == session for event in self.events)

        with self.changed:
            if not self.changed.wait_for(arrived, 60):
                sys.exit(f"page: the event {method} did not arrive")

    def open(self, url):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Network", "Runtime"]:
            self.call(f"{domain}.enable", session)
        self.call("Page.navigate", session, url=url)
        self.wait("Page.loadEventFired", session)
        return Tab(self, session)

    def close(self):
        self.call("Browser.close")
        self.process.wait(30)


class Tab:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session

    def run(self, script):
        """The value of an expression in the page."""
        result = self.browser.call(
            "Runtime.evaluate", self.session, expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            sys.exit(f"page: {script[:200]} failed: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def key(self, key):
        for kind in ["keyDown", "keyUp"]:
            text = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self.browser.call("Input.dispatchKeyEvent", self.session, type=kind, key=key, **text)

    def picture(self, path, scheme):
        self.browser.call("Page.bringToFront", self.session)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.call("Emulation.setEmulatedMedia", self.session, features=features)
        data = self.browser.call("Page.captureScreenshot", self.session, format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def events(self, method):
        return [e["params"] for e in self.browser.events if e["method"] == method and e.get("sessionId") == self.session]

    def check_quiet(self):
        """Fails if the page sent a request other than for itself, or if its script failed."""
        urls = [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]
        expect(all(url.startswith("file:///") for url in urls) and len(urls) == 1, f"requests were sent: {urls}")
        failures = [event["exceptionDetails"] for event in self.events("Runtime.exceptionThrown")]
        expect(not failures, f"the script failed: {failures}")


def expect(truth, problem):
    if not truth:
        sys.exit(f"page: {problem}")


def expect_equal(found, wanted):
    expect(found == wanted, f"found {found!r} instead of {wanted!r}")


class Check:
    def __init__(self, program, folder, pictures):
        self.program, self.folder, self.pictures = program, folder, pictures
        self.browser = Browser()

    def page(self, archive, name):
        """Opens the page of an archive."""
        data = archive if isinstance(archive, bytes) else json.dumps(archive, ensure_ascii=False).encode()
        html = subprocess.run([self.program, "page"], input=data, capture_output=True, check=True).stdout
        path = self.folder / f"{name}.html"
        path.write_bytes(html)
        return self.browser.open(path.as_uri())

    def ordinary(self, archive):
        tab = self.page(archive, "calls")
        rows = "[...document.querySelectorAll('.row')]"
        expect_equal(tab.run(f"{rows}.length"), 4)
        expect_equal(tab.run("byID('summary').textContent"), "4 calls · 1 failed · 1 from the cache")
        expect_equal(tab.run(f"{rows}[0].querySelector('.what b').textContent"), "GetFeed")
        expect_equal(tab.run(f"{rows}[0].querySelectorAll('.try, .try-bad').length"), 2)

        self.filters(tab, rows)
        self.search(tab, rows)
        self.details(tab)
        self.compare(tab)
        self.keyboard(tab)
        tab.check_quiet()
        return tab

    def filters(self, tab, rows):
        choose = "(id, value) => { byID(id).value = value; byID(id).dispatchEvent(new Event('change')); }"
        for name, value, count in [
            ("status", "4xx", 1), ("method", "POST", 1), ("origin", "cache", 1), ("origin", "network", 3),
            ("status", "2xx", 3),
        ]:
            tab.run(f"({choose})('filter-{name}', {json.dumps(value)})")
            expect_equal(tab.run(f"{rows}.length"), count)
            tab.run("byID('clear').click()")
        host = tab.run("byID('filter-host').options[1].value")
        expect(host.startswith("127.0.0.1:"), f"the host is {host}")
        tab.run(f"({choose})('filter-host', {json.dumps(host)})")
        expect_equal(tab.run(f"{rows}.length"), 4)
        tab.run("byID('clear').click(); byID('filter-failed').click()")
        expect_equal(tab.run(f"{rows}.map(row => row.querySelector('b').textContent)"), ["GetImage"])
        tab.run("byID('clear').click()")
        expect_equal(tab.run(f"{rows}.length"), 4)

    def search(self, tab, rows):
        for text, count in [("addnote", 1), ("503 retried", 1), ("TEA IS", 1), ("kitchen", 1), ("nowhere", 0)]:
            tab.run(f"byID('search').value = {json.dumps(text)}; readFilter()")
            expect_equal((text, tab.run(f"{rows}.length")), (text, count))
        expect(not tab.run("byID('empty').hidden"), "an empty list has no hint")
        tab.run("clearFilter()")

    def details(self, tab):
        tab.run("select(state.calls[0])")
        why = tab.run("document.querySelector('.why').textContent")
        expect("status 503, attempt 2 of 3" in why, f"the decisions are {why}")
        expect_equal(tab.run("document.querySelectorAll('.timeline .lane[role=img]').length"), 2)
        expect(tab.run("document.querySelectorAll('.track i.wait').length") >= 1, "no phase is drawn")
        expect("[object" not in tab.run("document.body.innerText"), "an object is shown as text")
        expect_equal(tab.run("document.querySelectorAll('.facts dd').length >= 5"), True)
        expect(tab.run("document.querySelectorAll('.mark').length") >= 3, "no decision is drawn")
        tab.run("showTab('headers')")
        expect("max-age=60" in tab.run("byID('panel').textContent"), "no header fields are shown")
        tab.run("showTab('bodies')")
        expect('"Tea is ready"' in tab.run("byID('panel').textContent"), "no body is shown")
        tab.run("select(state.calls[3]); showTab('overview')")
        expect("404" in tab.run("document.querySelector('.error').textContent"), "no error is shown")
        everything = tab.run("byID('archive').textContent")
        expect("s3cr3t" not in everything, "the page contains a secret")
        times = tab.run("[0.5, 1500, 59949, 119600, -90000].map(timeText)")
        expect_equal(times, ["500 µs", "1.50 s", "59.9 s", "2 min 0 s", "-1 min 30 s"])

    def compare(self, tab):
        tab.run("select(state.calls[0]); toggleBase(state.calls[0]); select(state.calls[2])")
        found = tab.run("[...document.querySelectorAll('.differs th')].map(cell => cell.textContent)")
        expect({"Request", "Method", "URL"} <= set(found), f"the differences are {found}")
        tab.run("document.querySelector('.detail-head .check input').click()")
        expect_equal(tab.run("document.querySelectorAll('.compare tr:not(.differs)').length"), 0)
        tab.run("document.querySelector('.detail-head .check input').click(); byID('end-compare').click()")

    def keyboard(self, tab):
        tab.run("closeDetail()")
        for key in ["Home", "ArrowDown", "ArrowDown"]:
            tab.key(key)
        expect_equal(tab.run("state.selected === state.calls[2]"), True)
        expect_equal(tab.run("byID(byID('list').getAttribute('aria-activedescendant')).textContent.includes('AddNote')"), True)
        tab.key("Enter")
        tab.key("ArrowRight")
        expect_equal(tab.run("document.activeElement.id"), "tab-headers")
        tab.key("Escape")
        expect_equal(tab.run("state.selected"), None)
        tab.key("/")
        expect_equal(tab.run("document.activeElement.id + byID('search').value"), "search")
        tab.run("byID('list').focus()")

    def copies(self, tab, modules):
        """Compiles the Swift code of each call, and lets bash read the curl commands."""
        sources = []
        for place in range(min(tab.run("state.calls.length"), len(HOSTILE))):
            request, test = tab.run(f"[requestCode(state.calls[{place}]), testCode(state.calls[{place}])]")
            for kind, code in [("request", request), ("test", test)]:
                source = self.folder / f"{kind}{place}.swift"
                source.write_text(code)
                sources.append(source)
            if tab.run(f"hasCurl(state.calls[{place}].entries.at(-1))"):
                self.read_curl(tab, place)
        # The maps of C modules: those of system libraries are sources, those of C targets may be built.
        maps = [*pathlib.Path("Sources").glob("C*/**/module.modulemap"), *modules.parent.glob("C*.build/module.modulemap")]
        for source in sources:
            options = ["-typecheck", "-swift-version", "6", "-I", str(modules)]
            for c_module in maps:
                options += ["-Xcc", f"-fmodule-map-file={c_module}"]
            done = subprocess.run(["swiftc", *options, source], capture_output=True, text=True)
            expect(done.returncode == 0, f"copied code does not compile:\n{source.read_text()}\n{done.stderr}")
        return len(sources)

    def curl_words(self, tab, place):
        script = f"curl() {{ printf '%s\\0' \"$@\"; }}\n{tab.run(f'curlOf(state.calls[{place}])')}"
        return subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout.decode().split("\0")

    def read_curl(self, tab, place):
        entry = tab.run(f"state.calls[{place}].entries.at(-1)")
        words = self.curl_words(tab, place)
        expect(entry["url"] in words, f"the URL is not a word of {words}")
        if entry["requestBody"]:
            expect_equal(words[words.index("--data-raw") + 1], entry["requestBody"]["text"])

    def curl(self):
        """Commands for bash contain each text as it is; requests that curl cannot send have a note instead."""
        entries = [
            {"request": {"method": "POST", "url": f"http://h.example/{text}", "headers": [{"name": "X-A", "value": text}],
                         "postData": {"text": text}}}
            for text in [*HOSTILE, "a\0b"]
        ]
        for change in WITHOUT_CURL:
            entries.append({"request": {"method": "GET", "url": "https://h.example/", "headers": [], **change}})
        tab = self.page({"log": {"entries": entries}}, "curl")
        for place, text in enumerate([*HOSTILE, "a\ufffdb"]):
            words = self.curl_words(tab, place)
            expect(f"http://h.example/{text}" in words and f"X-A: {text}" in words, f"a text is missing in {words}")
            expect_equal(words[words.index("--data-raw") + 1], text)
        for place, change in enumerate(WITHOUT_CURL):
            command = tab.run(f"curlOf(state.calls[{len(entries) - len(WITHOUT_CURL) + place}])")
            expect(command.startswith("# No curl command") and "\n" not in command, f"{change} gives {command!r}")

    def hostile(self):
        entries = [hostile_entry(place, text) for place, text in enumerate(HOSTILE)]
        entries += [None, 7, "text", [], {}, {"request": 1, "response": [], "timings": "x", "_errand": {"call": "x"}}]
        # Every member is an object or a list that JavaScript cannot convert to a text.
        entries += [wrong_entry(entries[0], value) for value in ({"toString": 1, "valueOf": 1}, [{"toString": 1}])]
        # A name of the prototype of each object.
        entries.append({"request": {"method": "constructor", "url": "https://h.example/"}})
        tab = self.page({"log": {"entries": entries}}, "hostile")
        expect_equal(tab.run("state.calls.length"), len(entries))
        elements = tab.run("document.querySelectorAll('script, img, iframe, object, embed, base, a, form').length")
        for place in range(len(entries)):
            tab.run(f"select(state.calls[{place}])")
            for name in ["overview", "headers", "bodies", "code"]:
                tab.run(f"showTab('{name}')")
                for code in ["curl", "request", "test"] if name == "code" else []:
                    tab.run(f"state.code = '{code}'; drawDetail()")
                if name == "bodies" and place < len(HOSTILE):
                    shown = tab.run("byID('panel').querySelector('pre').textContent")
                    expect_equal(shown, tab.run(f"visible({json.dumps(HOSTILE[place])})"))
        # Repeated members, their order and their numbers stay.
        pretty = "prettyText({ type: 'application/json', text: '{\"b\": 1e400, \"1\":[ -0,{}],\"b\":\"\\\\\"\"}' })"
        expect_equal(tab.run(pretty), '{\n  "b": 1e400,\n  "1": [\n    -0,\n    {}\n  ],\n  "b": "\\""\n}')
        expect('{ "constructor" }' in tab.run("requestCode(state.calls.at(-1))"), "the method is another")
        tab.run("toggleBase(state.calls[0]); select(state.calls[1])")
        expect_equal(tab.run("document.querySelectorAll('script, img, iframe, object, embed, base, a, form').length"), elements)
        expect_equal(tab.run("document.title"), "Flight record")
        # The policy forbids a request even if a script could start one.
        expect_equal(tab.run("""new Promise(end => {
            addEventListener('securitypolicyviolation', () => end('forbidden'), { once: true });
            fetch('http://127.0.0.1:1/').then(() => end('sent'), () => setTimeout(() => end('failed'), 2000));
          })"""), "forbidden")
        return tab

    def many(self, archive):
        entry = json.loads(archive)["log"]["entries"][-1]
        entries = [{**entry, "_errand": {**entry["_errand"], "call": place}} for place in range(5_000)]
        crowd = self.page({"log": {"entries": [{"_errand": {"call": 1}}] * 150_000}}, "crowd")
        expect_equal(crowd.run("state.calls[0].entries.length"), 150_000)
        tab = self.page({"log": {"entries": entries}}, "many")
        first = tab.run("performance.now() && document.querySelectorAll('.row').length > 0 && "
                        "performance.getEntriesByType('navigation')[0].domComplete")
        count = tab.run("document.querySelectorAll('.row').length")
        expect(0 < count < 80, f"{count} rows exist at once")
        step = """(async () => { const list = byID('list'), times = [];
            for (let part = 0; part <= 100; part += 1) {
              const start = performance.now();
              list.scrollTop = (list.scrollHeight - list.clientHeight) * part / 100;
              drawList(false); list.offsetHeight; document.body.getBoundingClientRect();
              times.push(performance.now() - start);
              if (part % 10 === 0) await new Promise(requestAnimationFrame);
            }
            times.sort((a, b) => a - b);
            return [times[50], times[100]]; })()"""
        median, slowest = tab.run(step)
        expect(tab.run("!!byID('row-4999')"), "the last call is not reached")
        look = "(start => { byID('search').value = 'getimage'; readFilter(); return performance.now() - start; })(performance.now())"
        search = tab.run(look)
        print(f"page: 5,000 calls: rows after {first:.0f} ms, a jump takes {median:.1f} ms (slowest {slowest:.1f} ms), "
              f"the first search {search:.0f} ms")
        expect(first < FIRST_ROWS and median < SCROLL and search < SEARCH, "the page is too slow")
        tab.check_quiet()

    def importer(self, archive):
        """Reads the archive with the importer of the network panel, which is part of the browser."""
        tab = self.browser.open("devtools://devtools/bundled/inspector.html")
        script = f"""import('devtools://devtools/bundled/models/har/har.js').then(har => {{
            const log = new har.HARFormat.HARLog(JSON.parse({json.dumps(archive.decode())}).log);
            return har.Importer.Importer.requestsFromHARLog(log).map(request => ({{
              url: request.url(), method: request.requestMethod, status: request.statusCode,
              headers: request.responseHeaders.length, type: request.mimeType,
              duration: request.endTime - request.startTime, cached: request.cached(), wait: request.timing?.receiveHeadersEnd,
            }})); }})"""
        requests = tab.run(script)
        entries = json.loads(archive)["log"]["entries"]
        expect_equal(len(requests), len(entries))
        for request, entry in zip(requests, entries):
            expect_equal(request["url"], entry["request"]["url"])
            expect_equal(request["method"], entry["request"]["method"])
            expect_equal(request["status"], entry["response"]["status"])
            expect_equal(request["headers"], len(entry["response"]["headers"]))
            expect(abs(request["duration"] * 1000 - entry["time"]) < 0.01, f"the duration is {request['duration']} s")
        expect_equal(sum(request["cached"] for request in requests), 1)
        return len(requests)

    def live(self):
        """A page that a running program serves shows calls as they end."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen([self.program, "live"], **pipes) as program:
            url = program.stdout.readline().strip()
            tab = self.browser.open(url)
            until = "(test => new Promise(end => { const look = () => test() ? end(true) : setTimeout(look, 10); look(); }))"
            tab.run(f"{until}(() => document.querySelectorAll('.row').length === 1)")
            for line in ["second\n", "third\n"]:
                program.stdin.write(line)
                program.stdin.flush()
            tab.run(f"{until}(() => document.querySelectorAll('.row').length === 3)")
            expect_equal(tab.run("byID('live').textContent"), "Live")
            expect("s3cr3t" not in tab.run("JSON.stringify(state.calls)"), "the live page contains a secret")
            expect_equal(tab.run("select(state.calls[2]), document.querySelectorAll('.why li').length"), 1)
            program.stdin.close()
            tab.run(f"{until}(() => byID('live').dataset.kind === 'off')")
            expect_equal(tab.run("byID('live').textContent"), "The page has been stopped.")
            urls = {event["request"]["url"] for event in tab.events("Network.requestWillBeSent")}
            expect(urls <= {url, f"{url}events"}, f"requests were sent: {urls}")
            expect(not tab.events("Runtime.exceptionThrown"), "the script of the live page failed")

    def draw(self, tab):
        self.pictures.mkdir(parents=True, exist_ok=True)
        tab.run("clearFilter(); select(state.calls[0]); showTab('overview'); document.activeElement.blur()")
        tab.picture(self.pictures / "page-light.png", "light")
        tab.picture(self.pictures / "page-dark.png", "dark")
        tab.run("showTab('code'); state.code = 'test'; drawDetail()")
        tab.picture(self.pictures / "page-code.png", "light")
        tab.run("toggleBase(state.calls[0]); select(state.calls[3])")
        tab.picture(self.pictures / "page-compare.png", "dark")


def hostile_entry(place, text):
    field = {"name": text, "value": text}
    return {
        "startedDateTime": text, "time": 5, "timings": {"wait": 5, "send": text}, "serverIPAddress": text,
        "request": {"method": text, "url": text, "headers": [field], "postData": {"text": text, "mimeType": text}},
        "response": {"status": 200, "statusText": text, "headers": [field], "_error": text,
                     "content": {"text": text, "mimeType": text}},
        "_errand": {"call": place, "requestType": text, "decisions": [text], "offsets": [text], "tag": text,
                    "outcome": {"failure": {"message": text, "stage": text}}},
    }


def wrong_entry(value, wrong):
    """A copy of an entry in which all values are replaced, but not the objects that contain them."""
    if isinstance(value, dict):
        return {name: wrong_entry(member, wrong) for name, member in value.items()}
    return [wrong_entry(value[0], wrong), wrong] if isinstance(value, list) else wrong


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(program, pathlib.Path(folder), pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else None)
        archive = subprocess.run([program, "record"], capture_output=True, check=True).stdout
        tab = check.ordinary(archive)
        compiled = check.copies(tab, program.parent / "Modules")
        hostile = check.hostile()
        compiled += check.copies(hostile, program.parent / "Modules")
        check.curl()
        check.many(archive)
        imported = check.importer(archive)
        check.live()
        if check.pictures:
            check.draw(tab)
        check.browser.close()
    print(f"page: {compiled} copied programs compile, DevTools imported {imported} requests, all checks passed")


main()
