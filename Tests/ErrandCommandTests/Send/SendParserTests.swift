import Errand
import ErrandJSON
import Testing

@testable import ErrandCommand

struct SendParserTests {
  private func parse(_ words: String...) throws(UsageError) -> SendOptions { try SendParser.parse(words) }

  @Test(arguments: [
    ("http://h/x", "http://h/x"), ("https://h/x", "https://h/x"), ("h.example/x?a=1", "https://h.example/x?a=1"),
    ("localhost", "http://localhost"), ("localhost:8080/x", "http://localhost:8080/x"),
    ("127.example.com/a", "https://127.example.com/a"), ("127.0.0.1.example.com", "https://127.0.0.1.example.com"),
    ("LocalHost:1", "http://LocalHost:1"), ("127.0.0.1:1", "http://127.0.0.1:1"), ("[::1]:8080/", "http://[::1]:8080/"),
    (":8080/x", "http://localhost:8080/x"),
    ("localhost.example", "https://localhost.example"), ("h/?u=http://x@y", "https://h/?u=http://x@y"),
  ])
  func `URLs get a default scheme`(written: String, sent: String) throws {
    #expect(try parse(written).url == sent)
  }

  @Test(arguments: [
    (["h"], "GET"), (["POST", "h"], "POST"), (["post", "h"], "POST"), (["PURGE", "h"], "PURGE"),
    (["h", "a=1"], "GET"), (["h", "a=1", "--query"], "GET"), (["h", "a=1", "--json"], "POST"),
    (["--form", "h", "a=1"], "POST"), (["h", "--json"], "GET"), (["DELETE", "h", "a=1", "--json"], "DELETE"),
  ])
  func `the method is given or derived`(words: [String], method: String) throws {
    #expect(try SendParser.parse(words).sentMethod.rawValue == method)
  }

  @Test(
    arguments: [
      ("a=1", "a", "1"), ("a=", "a", ""), ("a=b=c", "a", "b=c"), ("a:=1", "a", 1), ("a:=\"1\"", "a", "1"),
      ("a:=[1,null]", "a", [1, nil]), ("a==", "a", "="), ("名=值 &+", "名", "值 &+"), ("a=:=", "a", ":="),
      ("a=x:=1", "a", "x:=1"), ("a=\u{301}b", "a", "\u{301}b"), ("a\u{301}:=1", "a\u{301}", 1),
    ] as [(String, String, JSONValue)])
  func `arguments have names and values`(word: String, name: String, value: JSONValue) throws {
    #expect(try parse("h", word).items == [.init(name: name, value: value)])
  }

  @Test func `fields are added or omitted`() throws {
    let options = try parse("h", "-H", "X-A: b: c ", "--header=X-B:1", "-HX-C:  ", "-H", "X-A: 2", "-HX-D:\u{301}")
    #expect(
      options.fields == [
        .init(name: "X-A", value: "b: c"), .init(name: "X-B", value: "1"), .init(name: "X-C", value: nil),
        .init(name: "X-A", value: "2"), .init(name: "X-D", value: "\u{301}"),
      ])
    let headers = ShellRequest(options: options).headers
    #expect(
      headers
        == {
          var headers = RequestHeaders()
          headers.set("X-A", "b: c")
          headers.set("X-B", "1")
          headers.set("X-C", nil)
          headers.add("X-A", "2")
          headers.set("X-D", "\u{301}")
          return headers
        }())
  }

  @Test func `options may appear anywhere`() throws {
    let options = try parse(
      "-v", "PUT", "--timeout", "0.25", "h", "--user", "ada:a:b", "--form", "a=1", "--no-follow", "--no-proxy", "-ofile"
    )
    #expect(options.isVerbose && !options.followsRedirects && !options.usesProxy)
    #expect(options.timeout == .milliseconds(250) && options.output == "file" && options.format == .form)
    #expect(options.credential == .basic(user: "ada", password: "a:b") && options.method == "PUT")
    #expect(try parse("h", "--bearer=t=1").credential == .bearer("t=1"))
    #expect(try parse("h", "-o", "/dev/stdout").output == nil)
    #expect(try parse("h", "-o", "f", "-o", "-").output == nil && parse("h", "-o./-").output == "./-")
    #expect(try parse("h", "--", "-x=1").items == [.init(name: "-x", value: "1")])
  }

  @Test func `cache options are parsed`() throws {
    let options = try parse("h", "--mode=only", "--cache", "d", "--lifetime", "2h", "--tag", "feed")
    #expect(options.cacheFolder == "d" && options.cacheMode == .cacheOnly && options.lifetime == .seconds(7_200))
    #expect(options.tag == "feed")
    #expect(ShellRequest(options: options).cache == .lifetime(.seconds(7_200)))
    #expect(ShellRequest(options: try parse("h", "--cache", "d")).cache == .http)
    #expect(ShellRequest(options: try parse("h")).cache == CachePolicy.none)
  }

  @Test(arguments: [
    ([], "a URL is missing"), (["GET"], "a URL is missing"), (["-v"], "a URL is missing"),
    (["h", "--frob"], "unknown option “--frob”"), (["h", "-x=1"], "after --"),
    (["h", "-H"], "-H needs a value"), (["h", "-H", "no colon"], "'Name: value'"),
    (["h", "-H", ": x"], "'Name: value'"),
    (["h", "--timeout", "soon"], "not “soon”"), (["h", "--timeout", "0"], "above 0"),
    (["h", "--timeout", "-1"], "above 0"), (["h", "--timeout", "nan"], "above 0"),
    (["h", "--timeout", "inf"], "above 0"), (["h", "--user", "ada"], "name:password"),
    (["h", "--user", "a:b", "--bearer", "t"], "use only one credential"),
    (["h", "--json", "--form"], "use only one of"),
    (["h", "word"], "“word” is not an argument"), (["h", "=x"], "is not an argument"),
    (["h", ":=1"], "is not an argument"),
    (["h", "a:=x"], "for a text write a=…"), (["h", "a:="], "for a text write a=…"),
    (["h", "--json", "a=1", "a=2"], "“a” is given twice"), (["h", "-v=1"], "-v takes no value"),
    (["h", "--json=1"], "--json takes no value"), (["http://ada:pw@h/"], "--user name:password"),
    (["h", "--lifetime", "1h"], "--lifetime needs a cache"),
    (["h", "--mode", "only"], "name its folder with --cache"),
    (["h", "--tag", "t"], "--tag needs a cache"), (["h", "--cache"], "--cache needs a value"),
    (["h", "--cache", ""], "--cache needs a folder"),
    (["h", "--cache", "d", "--mode", "never"], "one of declared, revalidate, ignore, without, cached, offline, only"),
    (["h", "--cache", "d", "--lifetime", "0"], "such as 30s, 10m, 2h or 7d, not “0”"),
    (["h", "-o", ""], "-o needs the path of a file, or - for standard output"),
    (["h", "--output="], "--output needs the path of a file"),
    (["h", "--shape", "{"], "--shape: the shape must be JSON"),
    (["h", "--shape", #"{"a": "strin"}"#], "--shape: at $.a: “strin” is not a type"),
  ])
  func `wrong arguments are rejected with help`(words: [String], message: String) {
    let error = #expect(throws: UsageError.self) { try SendParser.parse(words) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "no error")")
  }

  @Test func `no message shows a password`() {
    let error = #expect(throws: UsageError.self) { try SendParser.parse(["http://ada:sesame@h/"]) }
    #expect(error?.description.contains("sesame") == false)
  }
}
