import ErrandTesting
import Foundation
import TestSupport
import Testing

struct SendTests {
  private func send(_ words: String..., environment: [String: String] = [:]) async throws -> BuiltCommand.Run {
    try await BuiltCommand.run(["send"] + words, environment: environment)
  }

  @Test func `a pipe gets the raw body`() async throws {
    let body: [UInt8] = [0x7B, 0x22, 0, 0xFF, 0x1B, 0x0A]
    let server = try LoopbackServer { _ in .data(body, contentType: "application/json") }
    let run = try await send(server.url + "/x")
    #expect(run.status == 0 && run.output == Data(body) && run.error == "")
  }

  @Test func `arguments go to query or body`() async throws {
    let server = try LoopbackServer { _ in .ok("ok") }
    _ = try await send(server.url, "q=a b&c", "n:=[1,2]")
    _ = try await send("--json", server.url + "/j", "a=1", "b:={\"c\":[true,null]}")
    _ = try await send("--form", server.url + "/f", "a=李 +", "a=2")
    _ = try await send("DELETE", server.url + "/d?x=1", "a=1", "--query")
    _ = try await send("POST", server.url + "/p", "a=1")
    let seen = server.requests.map { "\($0.method) \($0.target) \($0.bodyText)" }
    #expect(
      seen == [
        "GET /?q=a%20b%26c&n=1&n=2 ", #"POST /j {"a":"1","b":{"c":[true,null]}}"#, "POST /f a=%E6%9D%8E+%2B&a=2",
        "DELETE /d?x=1&a=1 ", "POST /p a=1",
      ])
  }

  @Test func `fields and credentials are sent`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    _ = try await send(server.url, "-H", "X-A: 1", "-H", "X-A: 2", "-H", "User-Agent:", "--user", "ada:p:w")
    let headers = try #require(server.requests.first).headers
    #expect(headers.values("X-A") == ["1", "2"])
    #expect(headers["User-Agent"] == nil && headers["Authorization"] == "Basic YWRhOnA6dw==")
  }

  @Test func `credentials are read from files`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let file = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data("ada:p:w\nanother line\n".utf8).write(to: file)
    #expect(try await send(server.url, "--user", "@\(file.path)").status == 0)
    #expect(try await send(server.url, "--bearer", "@\(file.path)").status == 0)
    #expect(server.requests.map { $0.headers["Authorization"] } == ["Basic YWRhOnA6dw==", "Bearer ada:p:w"])
    try Data("\n".utf8).write(to: file)
    for path in [file.path, file.path + ".missing"] {
      let run = try await send(server.url, "--bearer", "@\(path)")
      #expect(run.status != 0 && run.error.contains("--bearer") && run.error.contains(path), "\(run.error)")
    }
    #expect(server.requests.count == 2)
  }

  @Test func `verbose output masks secrets`() async throws {
    let server = try LoopbackServer { _ in
      .ok("hello").setting("Set-Cookie", to: "sid=s3").setting("X-Seen", to: "yes")
    }
    let run = try await send(server.url + "/x?token=t1&page=2", "--bearer", "b2", "-H", "X-Api-Key: k4", "-v")
    #expect(run.status == 0 && run.text == "hello")
    for shown in [
      "> GET \(server.url)/x?token=•••&page=2", "> User-Agent: errand/", "< HTTP/1.1 200 OK", "< X-Seen: yes",
      "* ", "in total",
    ] {
      #expect(run.error.contains(shown), "\(shown)")
    }
    for secret in ["t1", "b2", "s3", "k4"] { #expect(!run.error.contains(secret), "\(secret)") }
    #expect(try #require(server.requests.first).headers["X-Api-Key"] == "k4")
  }

  @Test func `headers precede the body`() async throws {
    let server = try LoopbackServer { _ in .ok("hello") }
    let place = try BuiltProgram("errand").path
    let words = ["-c", #"exec "$@" 2>&1"#, "sh", place, "send", server.url, "-v"]
    let run = try await BuiltProgram(at: URL(filePath: "/bin/sh")).run(words)
    let parts = run.text.components(separatedBy: "< HTTP/1.1 200 OK\n")
    #expect(run.status == 0 && parts.count == 2 && !parts[0].contains("hello"), "\(run.text)")
    #expect(parts.last?.contains("\nhello") == true, "\(run.text)")
  }

  @Test func `direction controls reach no terminal`() async throws {
    let trick = "\u{202E}gpj\u{2069}.\u{2028}exe"
    let server = try LoopbackServer { request in
      if request.path == "/file" { return .data(Data(trick.utf8), contentType: "text/plain") }
      return .data(Data(#"{"a":"\#(trick)"}"#.utf8), contentType: "application/json", status: 201)
        .setting("Location", to: "/a\(trick)").setting("X-Name", to: trick)
    }
    let run = try await send(server.url, "-v")
    let shown = #"\u{202e}gpj\u{2069}.\u{2028}exe"#
    for line in ["< Location: /a\(shown)\n", "< X-Name: \(shown)\n"] {
      #expect(run.error.contains(line), "\(run.error)")
    }
    #expect(!run.error.unicodeScalars.contains { trick.unicodeScalars.contains($0) && $0.value > 0x7F })
    for (path, shown) in [("/file", shown), ("/json", #"\u202egpj\u2069.\u2028exe"#)] {
      let terminal = try TerminalRun(errand: "send", server.url + path)
      #expect(await terminal.finish() == 0)
      #expect(terminal.text.contains(shown), "\(terminal.text)")
    }
  }

  #if os(Linux)
    @Test(arguments: [("GET", ["--shape", #""any""#]), ("HEAD", []), ("GET", [])])
    func `a response that cannot be written is reported`(method: String, options: [String]) async throws {
      let server = try LoopbackServer { _ in .json("[1]") }
      let place = try BuiltProgram("errand").path
      let shell = BuiltProgram(at: URL(filePath: "/bin/sh"))
      let words = ["-c", #"exec "$@" > /dev/full"#, "sh", place, "send", method, server.url]
      let run = try await shell.run(words + options)
      #expect(run.status == 1)
      #expect(run.error.contains("No space left on device"), "\(run.error)")
    }
  #endif

  @Test func `a rejected status shows its body`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"why":"no"}"#, status: 403) }
    let run = try await send(server.url)
    #expect(run.status == 22 && run.text == #"{"why":"no"}"#)
    #expect(run.error == "errand: The server answered 403 Forbidden; expected 200–299.\n")
  }

  @Test func `the shape is checked`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"nick":"Ada","level":"x"}"#) }
    let right = try await send(server.url, "--shape", #"{"nick":"string","level":"=x|number","age":"integer?"}"#)
    #expect(right.status == 0 && right.text == #"{"nick":"Ada","level":"x"}"#)
    let wrong = try await send(server.url, "--shape", #"{"nick":"string","level":"number"}"#)
    #expect(wrong.status == 65 && wrong.text == right.text)
    #expect(wrong.error.contains(#"$.level: expected a number, found the string "x""#))
    #expect(try #require(server.requests.first).headers["Accept"] == "application/json, */*;q=0.5")
  }

  @Test func `a silent server times out`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let run = try await send(server.url, "--timeout", "0.2")
    #expect(
      run.status == 28
        && run.error == "errand: The call did not end within 200.0 ms; use --timeout to change this limit.\n")
  }

  @Test func `failures have their own exit statuses`() async throws {
    let port = try RefusingPort()
    let server = try LoopbackServer { _ in .closeBeforeAnswer }
    #expect(try await send("127.0.0.1:\(port.port)").status == 7)
    #expect(try await send("http://name.invalid/").status == 6)
    #expect(try await send("https://127.0.0.1:\(server.port)/").status == 60)
    #expect(try await send("POST", server.url).status == 1)
    #expect(try await send("http://h h/").status == 64)
    #expect(try await send(server.url, "-H", "Content-Length: 1").status == 64)
  }

  @Test func `redirects are followed or shown`() async throws {
    let server = try LoopbackServer { request in request.path == "/a" ? .redirect(to: "/b") : .ok("there") }
    #expect(try await send(server.url + "/a").text == "there")
    let shown = try await send(server.url + "/a", "--no-follow", "-v")
    #expect(shown.status == 0 && shown.text == "" && shown.error.contains("< Location: /b"))
  }

  @Test func `HEAD prints the headers`() async throws {
    let server = try LoopbackServer { _ in .ok("12345").setting("X-A", to: "b") }
    let run = try await send("HEAD", server.url)
    #expect(run.status == 0 && run.text.hasPrefix("HTTP/1.1 200 OK\n") && run.text.contains("X-A: b\n"))
  }

  @Test func `a large body is streamed`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 40 << 20) }
    let run = try await send(server.url)
    #expect(run.status == 0 && run.output.count == 40 << 20)
    #expect(run.output.last == LoopbackAnswer.generatedByte(at: (40 << 20) - 1))
  }

  @Test func `the proxy comes from the environment`() async throws {
    let proxy = try LoopbackServer { _ in .ok("by proxy") }
    let environment = ["http_proxy": proxy.url]
    #expect(try await send("http://name.invalid/x", environment: environment).text == "by proxy")
    #expect(try await send("http://name.invalid/x", "--no-proxy", environment: environment).status == 6)
    #expect(proxy.requests.map(\.target) == ["http://name.invalid/x"])
  }
}
