import Errand
import ErrandTesting
import Foundation
import Testing

struct PathVariableTests {
  @Test(arguments: [
    ("7", "7"), ("a/b", "a%2Fb"), ("a.b", "a.b"), ("...", "..."), ("50%", "50%25"), ("%2F", "%252F"),
    ("a?b=c", "a%3Fb%3Dc"), ("a#b", "a%23b"), ("中文", "%E4%B8%AD%E6%96%87"), ("😀", "%F0%9F%98%80"),
    ("a b", "a%20b"), ("a+b&c=d", "a%2Bb%26c%3Dd"), ("a\r\nX: y", "a%0D%0AX%3A%20y"), ("a\0b", "a%00b"),
    ("\\..\\", "%5C..%5C"), ("-._~", "-._~"), (";v=1", "%3Bv%3D1"), ("http://o", "http%3A%2F%2Fo"), ("@", "%40"),
  ])
  func `path variable is escaped`(value: String, escaped: String) async throws {
    let url = try await ScriptedClient().url(Sending(path: "/users/\(value)/files"))
    #expect(url == "http://h.example/users/\(escaped)/files")
  }

  @Test(arguments: ["中 文", "a/b?c#d", "100%", "😀👨‍👩‍👧", "é", "\u{65}\u{301}", "'\"<>`{}|^[]"])
  func `server decodes the variable unchanged`(value: String) async throws {
    let path = try #require(try await ScriptedClient().sent(Sending(path: "/u/\(value)"))).url.path
    #expect(path.split(separator: "/").count == 2)
    let decoded = try #require(path.split(separator: "/").last?.removingPercentEncoding)
    #expect(Array(decoded.utf8) == Array(value.utf8))
  }

  @Test func `numbers and Booleans can be variables`() async throws {
    #expect(
      try await ScriptedClient().url(Sending(path: "/a/\(7)/\(-1.5)/\(true)")) == "http://h.example/a/7/-1.5/true")
  }

  static let lists: [(RequestPath, String)] = [
    ("/a/\(list: [1, 2])/b", "/a/1,2/b"), ("/a/\(list: ["x,y", "a/b", ""])", "/a/x%2Cy,a%2Fb,"),
    ("/a/\(list: ["z"])", "/a/z"), ("/a/\(list: ["..", "."])", "/a/..,."),
  ]

  @Test(arguments: lists)
  func `commas of a list stay`(path: RequestPath, expected: String) async throws {
    #expect(try await ScriptedClient().url(Sending(path: path)) == "http://h.example\(expected)")
  }

  static let refused: [(RequestPath, String)] = [
    ("/a/\(".")/b", "."), ("/a/\("..")/b", ".."), ("/a/\("..")", ".."), ("\("..")/b", ".."),
    ("/a/\(".")\(".")/b", ".."), ("/a/\(".")./b", ".."), ("/a/.\(".")/b", ".."), ("/a/\("..")?x=1", ".."),
    ("/a/\("..")#f", ".."), ("/\(segments: "a/../b")", ".."), ("/\(segments: "..")", ".."),
    ("/a/\(list: [".."])/b", ".."),
    ("/a/\("").\("")/b", "."), ("/a/\("")../b", ".."), ("/a/\("..")/\u{308}b", ".."), ("/a/\("..")?\u{308}b", ".."),
    ("/a/\("..")#\u{308}b", ".."), ("/\u{308}a/\(".")/b", "."),
  ]

  @Test(arguments: refused)
  func `variable cannot make a dot segment`(path: RequestPath, segment: String) async {
    let bench = ScriptedClient()
    let error = await bench.failure(of: Sending(path: path))
    #expect(error?.code == .invalidPath)
    #expect(error?.message.hasPrefix("A variable makes \"\(segment)\" a segment of ") == true)
    #expect(error?.message.hasSuffix(", which would change the path; check the value of the variable.") == true)
    #expect(bench.transport.requests.isEmpty)
  }

  static let kept: [(RequestPath, String)] = [
    ("/a/\(".")\("x")/b", "/a/.x/b"), ("/a/../\("x")", "/a/../x"), ("/a/\("x")..", "/a/x.."),
    ("/a/\("..")\("..")", "/a/...."), ("/\("a")/./b", "/a/./b"), ("/a?x=\("..")", "/a?x=.."),
    ("/a?x=/\("..")/", "/a?x=/../"), ("/a/\("%2e%2e")/b", "/a/%252e%252e/b"),
  ]

  @Test(arguments: kept)
  func `other dots are kept`(path: RequestPath, expected: String) async throws {
    #expect(try await ScriptedClient().url(Sending(path: path)) == "http://h.example\(expected)")
  }

  static let empty: [RequestPath] = [
    "/a/\("")", "/a/\("")/b", "\("")", "\("")/a", "/a/\("")\("")", "/a/\("")?x=1", "/a/\("")#f", "/a/\(segments: "")/b",
    "/a/\(list: [String]())", "/a/\(list: [""])", "/a/\("", name: "id")", "/\("")/\("b")", "https://h/\("")",
  ]

  @Test(arguments: empty)
  func `variable cannot make an empty segment`(path: RequestPath) async {
    let bench = ScriptedClient()
    let error = await bench.failure(of: Sending(path: path, method: .delete))
    #expect(error?.code == .invalidPath)
    let sentence = "A variable that is a whole segment of \"\(path)\" is empty, which would change the path; "
    #expect(error?.message == sentence + "check the value of the variable.")
    #expect(bench.transport.requests.isEmpty)
  }

  static let keptEmpty: [(RequestPath, String)] = [
    ("/file\("")", "/file"), ("/\("")file", "/file"), ("/a/\("b")\("")", "/a/b"), ("/a//\("b")", "/a//b"),
    ("/\("a")/", "/a/"), ("/a/?x=\("")", "/a/?x="), ("/\(segments: "a//b/")/c", "/a//b//c"),
  ]

  @Test(arguments: keptEmpty)
  func `other empty texts are kept`(path: RequestPath, expected: String) async throws {
    #expect(try await ScriptedClient().url(Sending(path: path)) == "http://h.example\(expected)")
  }

  @Test(arguments: [
    "/a/\(Double.nan)" as RequestPath, "/a/\(-Double.infinity)/b", "/a/\(Float.infinity, name: "x")",
    "/a?x=\(Decimal.nan)", "/a/\(list: [1, Double.nan])",
  ])
  func `number that is not finite is refused`(path: RequestPath) async {
    let bench = ScriptedClient()
    let error = await bench.failure(of: Sending(path: path))
    #expect(error?.code == .invalidPath)
    #expect(error?.message.hasPrefix("A variable of the path \"/a") == true)
    #expect(error?.message.hasSuffix("\" is not a finite number; pass a finite value.") == true)
    #expect(bench.transport.requests.isEmpty)
  }

  @Test func `values without a text are refused`() async throws {
    let variables: [(type: String, add: (inout any UnfitVariables) -> Void)] = [
      ("Date", { $0.appendInterpolation(Date(timeIntervalSince1970: 0)) }),
      ("Data", { $0.appendInterpolation(Data("a".utf8)) }),
      ("Array", { $0.appendInterpolation(["a"]) }),
      ("Set", { $0.appendInterpolation(Set(["a"])) }),
      ("Dictionary", { $0.appendInterpolation(["a": 1]) }),
    ]
    for (type, add) in variables {
      var interpolation = RequestPath.Interpolation(literalCapacity: 3, interpolationCount: 1)
      interpolation.appendLiteral("/a/")
      var unfit: any UnfitVariables = interpolation
      add(&unfit)
      let path = RequestPath(stringInterpolation: try #require(unfit as? RequestPath.Interpolation))
      let bench = ScriptedClient()
      let error = await bench.failure(of: Sending(path: path))
      #expect(error?.code == .invalidPath)
      #expect(
        error?.message
          == "A variable of the path \"/a/\(type)\" is a value of the type \(type), whose description is not made for "
          + "servers; write it as the text that the server reads.")
      #expect(bench.transport.requests.isEmpty)
    }
  }

  @Test func `named dates and lists are refused`() async {
    let ids = [1, 2, 3]
    let day = Date(timeIntervalSince1970: 0)
    let (slice, unmanaged) = (ids[..<2], ContiguousArray(ids))
    let paths: [(RequestPath, String)] = [
      ("/a/\(slice)", "ArraySlice<Int>"), ("/a/\(slice, name: "ids")/b", "ArraySlice<Int>"),
      ("/a?ids=\(unmanaged)", "ContiguousArray<Int>"), ("/a/\(ids, name: "ids")", "Array<Int>"),
      ("/a/\(Set(ids), name: "ids")", "Set<Int>"), ("/a/\(day, name: "day")", "Date"),
      ("/a/\(Data(), name: "hash")", "Data"),
    ]
    for (path, type) in paths {
      let bench = ScriptedClient()
      let error = await bench.failure(of: Sending(path: path))
      #expect(error?.code == .invalidPath)
      #expect(error?.message.contains(" is a value of the type \(type), whose description is not made for ") == true)
      #expect(bench.transport.requests.isEmpty)
    }
  }

  @Test func `text in brackets is sent`() async throws {
    let (text, part) = ("[a]", "x[b]".dropFirst())
    #expect(try await ScriptedClient().url(Sending(path: "/\(text)/\(part)")) == "http://h.example/%5Ba%5D/%5Bb%5D")
  }

  @Test(arguments: [
    "\("https://cdn.example.com/a?token=MARKER")" as RequestPath, "/\("http://h/")", "\("HTTPS://h/a")",
    "\(segments: "https://h/a")",
  ])
  func `whole URL as a variable is refused`(path: RequestPath) async {
    let bench = ScriptedClient()
    let error = await bench.failure(of: Sending(path: path))
    #expect(error?.code == .invalidPath)
    #expect(error?.message.hasPrefix("The path begins with a variable that is a whole URL, ") == true)
    #expect(error?.message.hasSuffix("; pass the URL as `RequestPath(text)`, which is used as written.") == true)
    #expect(error?.message.contains("MARKER") == false)
    #expect(bench.transport.requests.isEmpty)
  }

  @Test func `URL inside a path is escaped`() async throws {
    let path: RequestPath = "/resolve?url=\("https://h/a")"
    #expect(try await ScriptedClient().url(Sending(path: path)) == "http://h.example/resolve?url=https%3A%2F%2Fh%2Fa")
    #expect(try await ScriptedClient().url(Sending(path: RequestPath("https://o.example/a"))) == "https://o.example/a")
  }

  @Test func `segments variable keeps its slashes`() async throws {
    let file = "中文/a b/c?.txt"
    #expect(
      try await ScriptedClient().url(Sending(path: "/files/\(segments: file)"))
        == "http://h.example/files/%E4%B8%AD%E6%96%87/a%20b/c%3F.txt")
  }

  @Test func `variable cannot change the host`() async {
    let bench = ScriptedClient()
    let host = "evil.example/x?"
    #expect(await bench.failure(of: Sending(path: "https://\(host).good.example/a"))?.code == .invalidURL)
    let user = "user@evil.example"
    #expect(await bench.failure(of: Sending(path: "https://\(user)/a"))?.code == .invalidURL)
    #expect(bench.transport.requests.isEmpty)
  }

  @Test func `escapes in literals are kept`() async throws {
    #expect(try await ScriptedClient().url(Sending(path: "/a%2Fb/中/%zz")) == "http://h.example/a%2Fb/%E4%B8%AD/%25zz")
  }

  @Test func `paths are compared by bytes`() {
    let paths: Set<RequestPath> = ["/\u{e9}", "/e\u{301}"]
    #expect(paths.count == 2)
    #expect(RequestPath("/\u{e9}") != RequestPath("/e\u{301}"))
  }

  @Test func `variable in a query is escaped`() async throws {
    let value = "a&b=c"
    #expect(try await ScriptedClient().url(Sending(path: "/p?q=\(value)")) == "http://h.example/p?q=a%26b%3Dc")
  }
}

/// The deprecated functions for variables. The compiler warns about direct calls, but not about calls by a protocol.
private protocol UnfitVariables {
  mutating func appendInterpolation(_ variable: Date)
  mutating func appendInterpolation(_ variable: Data)
  mutating func appendInterpolation<Element>(_ variable: [Element])
  mutating func appendInterpolation<Element>(_ variable: Set<Element>)
  mutating func appendInterpolation<Key, Value>(_ variable: [Key: Value])
}

extension RequestPath.Interpolation: UnfitVariables {}
