import Errand
import ErrandTesting
import Foundation
import Testing

/// CR, LF, NUL and spaces in every place that could be used for smuggling, and fields that frame the message.
struct RefusalTests {
  static let breaks = ["\r\nX-Evil: 1", "\n", "\r", "\0", "a\r\n\r\nGET / HTTP/1.1", "\u{7F}", "\u{1}"]

  func refusal(_ request: Sending, baseURL: String = "http://h.example") async -> APIError? {
    let bench = ScriptedClient(baseURL: baseURL)
    let error = await bench.failure(of: request)
    #expect(bench.transport.requests.isEmpty)
    #expect(error?.stage == .build)
    #expect(error?.message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } == true)
    return error
  }

  @Test(arguments: ["GE T", " GET", "GET ", "", "GET\r\nX: y", "G\0T", "G(T", "GÉT", "GET/", "\"GET\""])
  func `method must be a token`(method: String) async {
    let error = await refusal(Sending(method: HTTPMethod(method)))
    #expect(error?.code == .invalidMethod)
    #expect(error?.message.hasSuffix(" is not a token; use a word such as GET, without spaces.") == true)
  }

  @Test func `CONNECT is reserved for the transport`() async {
    #expect(await refusal(Sending(method: "CONNECT"))?.code == .invalidMethod)
  }

  @Test func `error shows the invalid method`() async {
    let error = await refusal(Sending(method: "GE\r\nT"))
    #expect(error?.message == "The method \"GE\\u{d}\\u{a}T\" is not a token; use a word such as GET, without spaces.")
  }

  @Test(arguments: ["X Y", "", "X:Y", "X\r\nY", "X\0", " X", "X ", "X(", "Ü", "X\u{7F}"])
  func `field name must be a token`(name: String) async {
    let error = await refusal(Sending(headers: [HTTPFieldName(name): "v"]))
    #expect(error?.code == .invalidHeader)
    #expect(error?.message.hasSuffix("is not a token; remove spaces, colons and line breaks.") == true)
  }

  @Test(arguments: breaks) func `field value cannot contain line breaks`(value: String) async {
    let error = await refusal(Sending(headers: ["X-Name": .text("a\(value)")]))
    #expect(error?.code == .invalidHeader)
    #expect(
      error?.message == "The value of the field X-Name holds a control character such as a line break; remove it.")
  }

  @Test(arguments: [" a", "a ", " ", "\ta", "a\t", "\u{20}\u{301}a"])
  func `field value cannot have outer spaces`(value: String) async {
    let error = await refusal(Sending(headers: ["X-Name": .text(value)]))
    #expect(error?.message == "The value of the field X-Name begins or ends with a space; remove the space.")
  }

  @Test(arguments: breaks) func `path cannot contain line breaks`(text: String) async {
    for path in ["/a" + text, "/a?b=" + text, "https://o/a" + text] {
      let error = await refusal(Sending(path: RequestPath(path)))
      #expect(error?.code == .invalidPath)
      #expect(error?.message.hasPrefix("The path \"/a") == true)
      #expect(error?.message.hasSuffix("holds a control character such as a line break; remove it.") == true)
    }
  }

  @Test(arguments: breaks) func `base URL cannot contain line breaks`(text: String) async {
    for base in ["http://h/a\(text)b", "http://h/?a=\(text)b"] {
      let error = await refusal(Sending(), baseURL: base)
      #expect(error?.code == .invalidURL)
      #expect(error?.message.hasSuffix("holds a control character such as a line break; remove it.") == true)
    }
  }

  @Test(arguments: breaks + [" "]) func `host cannot contain line breaks`(text: String) async {
    for base in ["http://h\(text)/", "http://\(text)h"] {
      let error = await refusal(Sending(), baseURL: base)
      #expect(error?.code == .invalidURL)
      #expect(error?.message.contains("The host of ") == true || text.contains("/") || text.contains(":"))
    }
    let path = "http://h\(text)/"
    #expect(await refusal(Sending(path: RequestPath(path)))?.code == .invalidURL)
  }

  @Test func `spaces in URLs are escaped`() async throws {
    let bench = ScriptedClient(baseURL: "http://h/a b?c d")
    let url = try await bench.url(Sending(path: "/e f?g h=i j", arguments: ["k l": "m n"]))
    #expect(url == "http://h/a%20b/e%20f?c%20d&g%20h=i%20j&k%20l=m%20n")
  }

  @Test(arguments: ["http://user:MARKER@h", "http://MARKER@h", "https://u:MARKER@h:8443/v1?x=MARKER"])
  func `user info in a URL is refused`(url: String) async {
    let error = await refusal(Sending(), baseURL: url)
    #expect(error?.code == .invalidURL)
    #expect(error?.message.hasSuffix("contains a user name or password; remove it and use a basic credential.") == true)
    #expect(error?.message.contains("MARKER") == false)
    #expect(await refusal(Sending(path: RequestPath(url)))?.message.contains("MARKER") == false)
  }

  @Test(arguments: ["/", "?", "#", "\\", "//", "?x=1&"])
  func `no part of a password is shown`(sign: String) async {
    let url = "https://ada:S3cr\(sign)et@api.example.com/x?token=MARKER"
    for error in [await refusal(Sending(path: RequestPath(url))), await refusal(Sending(), baseURL: url)] {
      #expect(error?.code == .invalidURL)
      #expect(error?.message.contains("S3cr") == false && error?.message.contains("MARKER") == false)
      #expect(error.map { "\($0) \($0.cause.map { "\($0)" } ?? "")".contains("S3cr") } == false)
      #expect(error?.message.contains("api.example.com") == true, "\(error?.message ?? "")")
    }
  }

  // MARK: - Framing

  static let framing = [
    "Content-Length", "transfer-encoding", "HOST", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
    "Upgrade", "Expect",
  ]

  @Test(arguments: framing) func `framing fields are refused`(name: String) async throws {
    let sentence =
      "The field \(name) describes how the message is sent, and only the transport may set it; remove the field."
    let field = HTTPFieldName(name)
    #expect(await refusal(Sending(headers: [field: "1"]))?.message == sentence)
    let finished = try HTTPRequest(url: "http://h/", fields: [field: "1"])
    #expect(await refusal(Sending(finished: finished))?.message == sentence)
  }

  struct Adding: Interceptor {
    let field: HTTPField
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      var request = request
      request.fields.append(field)
      return try await next(request)
    }
  }

  static let unsendable =
    framing.map { HTTPField(HTTPFieldName($0), "1") } + [
      HTTPField("X\r\nY", "1"), HTTPField("X", "1\r\nY: 2"), HTTPField("X", "1\0"), HTTPField("X Y", "1"),
    ]

  @Test(arguments: unsendable) func `interceptors cannot add invalid fields`(field: HTTPField) async {
    let around = ScriptedClient { $0.interceptors.calls = [Adding(field: field)] }
    #expect(await around.failure(of: Sending())?.code == .invalidHeader)
    #expect(around.transport.requests.isEmpty)
    let inside = ScriptedClient { $0.interceptors.exchanges = [Adding(field: field)] }
    #expect(await inside.failure(of: Sending())?.code == .invalidHeader)
    #expect(inside.transport.requests.isEmpty)
  }

  struct Renaming: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      var request = request
      request.method = "GET / HTTP/1.1\r\nX:"
      return try await next(request)
    }
  }

  @Test func `interceptors cannot set invalid methods`() async {
    for bench in [
      ScriptedClient { $0.interceptors.calls = [Renaming()] },
      ScriptedClient { $0.interceptors.exchanges = [Renaming()] },
    ] {
      #expect(await bench.failure(of: Sending())?.code == .invalidMethod)
      #expect(bench.transport.requests.isEmpty)
    }
  }
}
