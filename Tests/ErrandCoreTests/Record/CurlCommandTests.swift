import ErrandCore
import Foundation
import Testing

struct CurlCommandTests {
  /// The arguments that bash passes to a program named curl, and the bytes on its standard input.
  private func words(of line: String) throws -> (arguments: [Data], input: Data) {
    let script = #"curl() { printf '%s\0' "$@"; printf '\0'; if [[ "$*" == *@-* ]]; then cat; fi; }; "#
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", script + line]
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let parts = data.split(separator: 0, omittingEmptySubsequences: false)
    let end = try #require(data.range(of: Data([0, 0]))?.upperBound)
    return (Array(parts.prefix { !$0.isEmpty }), Data(data[end...]))
  }

  private func text(_ line: String) throws -> [String] {
    try words(of: line).arguments.map { String(decoding: $0, as: UTF8.self) }
  }

  private func request(
    _ method: HTTPMethod = .post, _ url: String = "http://h.example/a", _ fields: [HTTPField] = [],
    _ body: Data? = nil
  ) throws -> HTTPRequest {
    try HTTPRequest(method: method, url: url, fields: HTTPFields(fields), body: body.map(HTTPBody.init))
  }

  @Test func `simple request becomes one line`() throws {
    let request = try request(.get, "http://h.example/a", [HTTPField(.accept, "*/*"), HTTPField(.userAgent, "E")])
    #expect(request.curlCommand() == "curl http://h.example/a -H 'Accept: */*' -H 'User-Agent: E'")
  }

  /// Swift treats an apostrophe with a combining accent as one character; bash sees the apostrophe.
  @Test(arguments: ["'\u{301}; touch /tmp/never; '", "a'\u{20DD}b", "'\u{301}$(exit 1)'\u{301}", "\\'\u{308}", "'"])
  func `combining accent hides no apostrophe`(value: String) throws {
    let request = try request(.post, "http://h.example/a", [HTTPField("X", value)], Data(value.utf8))
    let words = try text(request.curlCommand(showingSecrets: true))
    #expect(words.contains { Array($0.utf8) == Array("X: \(value)".utf8) })
    #expect(words.contains { Array($0.utf8) == Array(value.utf8) })
  }

  @Test(arguments: ["a\u{200B}b", "a\u{202E}b", "a\u{E0041}b", "\u{FEFF}", "a\u{2028}ü'b"])
  func `hidden scalars are escaped`(value: String) throws {
    let line = try request(.post, "http://h.example/a", [HTTPField("X", value)], Data(value.utf8))
      .curlCommand(showingSecrets: true)
    #expect(line.unicodeScalars.allSatisfy { $0.isASCII })
    let words = try text(line)
    #expect(words.contains { Array($0.utf8) == Array("X: \(value)".utf8) })
    #expect(words.contains { Array($0.utf8) == Array(value.utf8) })
  }

  /// A server set the cookie in another encoding than UTF-8. Such bytes are stored as private-use scalars.
  @Test func `bytes of a cookie are sent back`() throws {
    let fields = [HTTPField(.cookie, "n=\u{F7C4}\u{F7E3}"), HTTPField("X", "\u{F7C4}")]
    let line = try request(.get, "http://h.example/a", fields).curlCommand(showingSecrets: true)
    let arguments = try words(of: line).arguments
    #expect(arguments.contains(Data("Cookie: n=".utf8) + Data([0xC4, 0xE3])))
    #expect(arguments.contains(Data("X: \u{F7C4}".utf8)))
  }

  @Test func `curl's defaults are switched off`() throws {
    let line = try request(.post, "http://h.example/a", [], Data("x".utf8)).curlCommand(showingSecrets: true)
    #expect(
      line == "curl -X POST http://h.example/a -H User-Agent: -H Accept: -H Content-Type: --data-raw x")
  }

  @Test func `secrets are masked by default`() throws {
    let fields = [
      HTTPField(.authorization, "Bearer abc"), HTTPField("X-Key", "k1", isSecret: true),
      HTTPField(.contentType, "application/json"),
    ]
    let body = Data(#"{"user":"ada","deep":[{"password":"pw"}]}"#.utf8)
    let line = try request(.post, "http://h.example/a?token=t1&page=2", fields, body).curlCommand()
    for secret in ["abc", "k1", "pw", "t1"] { #expect(!line.contains(secret)) }
    #expect(line.contains("'Authorization: •••'"))
    #expect(line.contains(#"'{"deep":[{"password":"•••"}],"user":"ada"}'"#))
    #expect(line.contains("'http://h.example/a?token=•••&page=•••'"))
  }

  @Test func `secrets that only their names reveal are masked`() throws {
    let fields = [
      HTTPField("X-Auth-Token", "s3cret"), HTTPField("Referer", "https://h.example/?sig=s3cret&page=2"),
      HTTPField(.contentType, "application/json"),
    ]
    let body = """
      {"code":"s3cret","code_verifier":"s3cret","pass":"s3cret","assertion":["s3cret",{"a":1}],\
      "link":"https://h.example/?sig=s3cret\\"&page=2","result":{"code":0},"pin":4711}
      """
    let line = try request(.post, "http://h.example/a", fields, Data(body.utf8)).curlCommand()
    #expect(!line.contains("s3cret") && !line.contains("4711"), "\(line)")
    #expect(line.contains(#""result":{"code":0}"#) && line.contains(#""assertion":["•••",{"a":1}]"#), "\(line)")
    #expect(line.contains("https://h.example/?sig=•••&page=2"), "\(line)")
    #expect(line.contains(#"?sig=•••\"&page=2"#), "\(line)")
  }

  @Test func `forms and unknown bodies are masked`() throws {
    let form = HTTPField(.contentType, "application/x-www-form-urlencoded")
    let masked = try request(.post, "http://h.example/", [form], Data("user=ada&password=pw".utf8)).curlCommand()
    #expect(masked.hasSuffix("--data-raw 'user=•••&password=•••'"))
    let twice = try request(.post, "http://h.example/", [form, form], Data("user=ada&password=pw".utf8)).curlCommand()
    #expect(twice.hasSuffix("--data-raw 'user=•••&password=•••'"))
    let counted = try request(.post, "http://h.example/", [], Data("top secret".utf8)).curlCommand()
    #expect(counted.hasSuffix("--data-raw '••• 10 bytes'"))
  }

  @Test func `secrets are shown on request`() throws {
    let fields = [HTTPField(.authorization, "Bearer it's")]
    let line = try request(.put, "http://h.example/?t=1&u=2", fields, Data("pw=1".utf8)).curlCommand(
      showingSecrets: true)
    let words = try text(line)
    #expect(words.prefix(3) == ["-X", "PUT", "http://h.example/?t=1&u=2"])
    #expect(words.contains("Authorization: Bearer it's"))
    #expect(words.suffix(2) == ["--data-raw", "pw=1"])
  }

  @Test func `every byte except zero is preserved`() throws {
    let body = Data((1...255).map { UInt8($0) } + Array("0'\\@{}[]$`\"!\n9".utf8))
    let line = try request(.post, "http://h.example/", [], body).curlCommand(showingSecrets: true)
    #expect(!line.contains("\n"))
    #expect(try words(of: line).arguments.last == body)
  }

  @Test func `piped body may start with dashes`() throws {
    let body = Data("--boundary\r\n\\".utf8) + Data([0, 0xFF])
    #expect(
      try words(of: request(.post, "http://h.example/a", [], body).curlCommand(showingSecrets: true)).input == body)
  }

  @Test func `long body uses a pipe`() throws {
    let line = try request(.post, "http://h.example/a", [], Data(count: 200_000)).curlCommand(showingSecrets: true)
    #expect(line.hasPrefix("printf -- ") && line.hasSuffix("--data-binary @-"))
    let text = Data(repeating: 0x61, count: 200_000)
    #expect(
      try request(.post, "http://h.example/a", [], text).curlCommand(showingSecrets: true).hasPrefix("printf -- "))
  }

  @Test func `body with zero bytes uses a pipe`() throws {
    let body = Data((0...255).map { UInt8($0) } + Array("%d%%1\\0".utf8) + [0, 0x31])
    let line = try request(.post, "http://h.example/", [], body).curlCommand(showingSecrets: true)
    let (arguments, input) = try words(of: line)
    #expect(arguments.suffix(2).map { String(decoding: $0, as: UTF8.self) } == ["--data-binary", "@-"])
    #expect(input == body)
  }

  @Test(arguments: ["a'b", "$(touch x)", "`id`", "\"q\"", "a\\b", "你好 🚀", "a\nb", "@file", "-x", "!!", "*?"])
  func `shell metacharacters are quoted`(text: String) throws {
    let line = try request(.post, "http://h.example/", [HTTPField("X-A", "v")], Data(text.utf8))
      .curlCommand(showingSecrets: true)
    #expect(try self.text(line).last == text)
  }

  @Test func `curl does not rewrite the URL`() throws {
    let line = try request(.get, "http://[::1]/a/../b?x={1,2}").curlCommand(showingSecrets: true)
    let words = try text(line)
    #expect(words.contains("--globoff") && words.contains("--path-as-is"))
  }

  @Test func `Content-Length and Expect are preserved`() throws {
    let length = "-H 'Content-Length: 0'"
    for method: HTTPMethod in [.post, .put, .patch, .query] {
      #expect(try request(method).curlCommand().hasSuffix(length), "\(method)")
    }
    #expect(try !request(.delete).curlCommand().contains(length))
    var asking = try request(.post, "http://h.example/", [], Data("a".utf8))
    #expect(!asking.curlCommand().contains("Expect"))
    asking.body = asking.body?.expectingContinue()
    #expect(asking.curlCommand().contains("-H 'Expect: 100-continue'"))
    let large = try request(.post, "http://h.example/", [], Data(count: (1 << 20) + 1))
    #expect(large.curlCommand().contains("-H Expect:"))
  }

  @Test func `unusual requests keep their form`() throws {
    #expect(try request(.head).curlCommand().hasPrefix("curl --head http"))
    #expect(try request(.get, "http://h.example/", [], Data()).curlCommand().hasSuffix("--data-raw ''"))
    #expect(try request("PURGE").curlCommand().hasPrefix("curl -X PURGE http"))
    #expect(try request(.get, "http://h.example/", [HTTPField("X-Empty", "")]).curlCommand().contains("-H 'X-Empty;'"))
    let coded = [HTTPField(.acceptEncoding, "gzip")]
    #expect(try request(.get, "http://h.example/", coded).curlCommand().contains("--compressed"))
  }
}
