import Errand
import ErrandTesting
import Foundation
import Testing

struct InterceptorTests {
  @Test func `interceptors run outermost first`() async throws {
    let seen = Recorded<String>()
    let noting = { @Sendable (name: String) in
      Around { request, _, next in
        seen.append("\(name) in")
        let response = try await next(request)
        seen.append("\(name) out")
        return response
      }
    }
    let bench = ScriptedClient {
      $0.interceptors.calls = [noting("a"), noting("b")]
      $0.interceptors.exchanges = [noting("c"), noting("d")]
    }
    _ = try await bench.client.send(Sending())
    #expect(seen.all == ["a in", "b in", "c in", "d in", "d out", "c out", "b out", "a out"])
  }

  @Test func `interceptors see the call's info`() async throws {
    let seen = Recorded<String>()
    let bench = ScriptedClient {
      $0.interceptors.calls = [
        Around { request, context, next in
          seen.append("\(context.info.name) \(context.info.tag ?? "") \(context.info.request is Sending)")
          return try await next(request)
        }
      ]
    }
    _ = try await bench.client.send(Sending(), options: .tag("t"))
    #expect(seen.all == ["Ask<Data> t true"])
  }

  @Test func `interceptors change request and response`() async throws {
    let bench = ScriptedClient(
      {
        $0.interceptors.calls = [
          Around { request, _, next in
            var request = request
            request.method = .put
            request.url = try HTTPURL("http://moved/x?y")
            request.fields["X-Trace"] = "7"
            request.body = HTTPBody(Data("changed".utf8))
            var response = try await next(request)
            response.head.status = 200
            response.body += Data("!".utf8)
            return response
          }
        ]
      }, answer: { _ in .text("teapot", status: 418) })
    #expect(try await bench.client.send(Ask<String>()) == "teapot!")
    let sent = try #require(bench.transport.requests.first)
    #expect(sent.method == .put && sent.url.string == "http://moved/x?y" && sent.text == "changed")
    #expect(sent.fields["x-trace"] == "7")
  }

  @Test func `interceptors respond without a transport`() async throws {
    let bench = ScriptedClient {
      $0.interceptors.calls = [
        Around { request, _, _ in
          HTTPResponse(head: ResponseHead(status: 200), body: Data("own".utf8), url: request.url)
        }
      ]
    }
    let response = try await bench.client.response(Ask<String>())
    #expect(response.value == "own" && response.metrics.attempts == 0)
    #expect(bench.transport.requests.isEmpty)
  }

  @Test func `interceptors may retry`() async throws {
    let bench = ScriptedClient(answers: [.status(503), .failure(.reset), .text("third")]) {
      $0.interceptors.calls = [
        Around { request, _, next in
          for _ in 0..<2 {
            if let response = try? await next(request), response.status < 500 { return response }
          }
          return try await next(request)
        }
      ]
    }
    let response = try await bench.client.response(Ask<String>())
    #expect(response.value == "third" && response.metrics.attempts == 3)
  }

  struct Closed: Error, CustomStringConvertible { let description = "the shop is closed" }

  @Test func `interceptors may refuse a call`() async {
    let bench = ScriptedClient { $0.interceptors.calls = [Around { _, _, _ in throw Closed() }] }
    let error = await bench.failure(of: Sending())
    #expect(error?.stage == .interceptor && error?.code == .interceptor && error?.cause is Closed)
    #expect(error?.message == "An interceptor failed: the shop is closed.")
    #expect(error?.request?.url.string == "http://h.example/p" && error?.attempts == 0)
    #expect(bench.transport.requests.isEmpty)
  }

  @Test func `interceptor's own API error is kept`() async {
    let code = APIError.Code(rawValue: "closed")
    let bench = ScriptedClient {
      $0.interceptors.exchanges = [Around { _, _, _ in throw APIError(.interceptor, code, "Come back tomorrow.") }]
    }
    let error = await bench.failure(of: Sending())
    #expect(error?.code == code && error?.message == "Come back tomorrow.")
    #expect(error?.description == "interceptor/closed: Come back tomorrow. [GET http://h.example/p]")
  }

  @Test func `interceptors see every status`() async {
    let seen = Recorded<Int>()
    let noting = Around { request, _, next in
      let response = try await next(request)
      seen.append(response.status)
      return response
    }
    let bench = ScriptedClient(answers: [.redirect(to: "/b"), .status(404)]) {
      $0.interceptors.calls = [noting]
      $0.interceptors.exchanges = [noting]
    }
    #expect(await bench.failure(of: Sending())?.status == 404)
    #expect(seen.all == [302, 404, 404])
  }

  /// Suspends until its task is cancelled.
  @Sendable static func never() async -> Int? {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    return await withTaskCancellationHandler {
      await stream.first { _ in true }
    } onCancel: {
      continuation.finish()
    }
  }

  @Test func `interceptors may race two responses`() async throws {
    let bench = ScriptedClient(
      {
        $0.interceptors.calls = [
          Around { request, _, next in
            try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
              for number in 1...2 {
                var copy = request
                copy.fields["X-Copy"] = "\(number)"
                group.addTask { [copy] in try await next(copy) }
              }
              defer { group.cancelAll() }
              guard let first = try await group.next() else { throw Closed() }
              return first
            }
          }
        ]
      },
      answer: { request in
        if request.fields["X-Copy"] == "1" { _ = await Self.never() }
        return .text("second")
      })
    #expect(try await bench.client.send(Ask<String>()) == "second")
  }

  @Test func `error has the request as sent`() async {
    let bench = ScriptedClient(
      {
        $0.credentials = FixedCredential(.bearer("t"))
        $0.interceptors.exchanges = [Self.signer]
      }, answer: { _ in .status(500) })
    let request = await bench.failure(of: Sending())?.request
    #expect(request?.fields[.authorization] == "Bearer t" && request?.fields["X-Signature"] != nil)
  }

  // MARK: - Encryption and signing

  static func flipped(_ data: Data) -> Data { Data(data.map { $0 ^ 0x5A }) }

  /// Encrypts request bodies, and decrypts response bodies before validation.
  static let cipher = Around { request, _, next in
    var request = request
    request.body = request.body?.data.map { HTTPBody(flipped($0)) }
    request.fields[.contentType] = "application/x-secret"
    var response = try await next(request)
    response.body = flipped(response.body)
    return response
  }

  @Test func `bodies are encrypted after merging`() async throws {
    let bench = ScriptedClient(
      {
        $0.additions.bodyArguments = { ["app": "shop"] }
        $0.interceptors.calls = [Self.cipher]
      }, answer: { _ in ScriptedAnswer(body: Self.flipped(Data(#"{"nick":"A"}"#.utf8))) })
    let request = Ask<JSONValue>(
      method: .post, arguments: ["a": 1], argumentFormat: .json, shape: ["nick": .string])
    #expect(try await bench.client.send(request) == ["nick": "A"])
    let sent = try #require(bench.transport.requests.first)
    #expect(Self.flipped(sent.body?.data ?? Data()) == Data(#"{"a":1,"app":"shop"}"#.utf8))
    #expect(sent.fields[.contentType] == "application/x-secret")
  }

  @Test func `responses are decrypted before validation`() async {
    let bench = ScriptedClient(
      { $0.interceptors.calls = [Self.cipher] },
      answer: { _ in
        ScriptedAnswer(body: Self.flipped(Data(#"{"nick":7}"#.utf8)))
      })
    let error = await bench.failure(of: Sending(shape: ["nick": .string]))
    let mismatch = "$.nick: expected a string, found the number 7."
    #expect(error?.message == "The JSON does not have the declared shape: \(mismatch)")
  }

  /// Signs the method, URL, fields and body of each request.
  static let signer = Around { request, _, next in
    var request = request
    let fields = request.fields.all.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: "|")
    let text = "\(request.method) \(request.url.string) \(fields) \(request.body?.length ?? 0)"
    request.fields["X-Signature"] = "\(text.utf8.reduce(into: UInt64(5381)) { $0 = $0 &* 33 &+ UInt64($1) })"
    return try await next(request)
  }

  @Test func `signature covers the final bytes`() async throws {
    let seen = Recorded<HTTPRequest>()
    let bench = ScriptedClient {
      $0.credentials = FixedCredential(.bearer("t"))
      $0.interceptors.calls = [Self.cipher]
      $0.interceptors.exchanges = [
        Self.signer,
        Around { request, _, next in
          seen.append(request)
          return try await next(request)
        },
      ]
    }
    _ = try await bench.client.send(Sending(method: .post, arguments: ["a": 1]))
    let sent = try #require(bench.transport.requests.first)
    var unsigned = sent
    unsigned.fields["X-Signature"] = nil
    #expect(unsigned.fields[.authorization] == "Bearer t" && unsigned.body?.data == Self.flipped(Data("a=1".utf8)))
    let check = ScriptedClient(baseURL: "http://other") {
      $0.headers = ["User-Agent": nil]
      $0.interceptors.exchanges = [Self.signer]
    }
    _ = try await check.client.send(Sending(credential: .none, finished: unsigned))
    #expect(check.transport.requests.first?.fields["X-Signature"] == sent.fields["X-Signature"])
    #expect(seen.all.map(\.fields) == [sent.fields])
  }

  @Test func `every redirect hop is signed again`() async throws {
    let bench = ScriptedClient(answers: [.redirect(to: "/b"), .text("x")]) { $0.interceptors.exchanges = [Self.signer] }
    _ = try await bench.client.send(Sending())
    let signatures = bench.transport.requests.map { $0.fields["X-Signature"] }
    #expect(signatures.count == 2 && signatures[0] != nil && signatures[1] != nil && signatures[0] != signatures[1])
    #expect(bench.transport.requests.allSatisfy { $0.fields.values(of: "X-Signature").count == 1 })
  }
}
