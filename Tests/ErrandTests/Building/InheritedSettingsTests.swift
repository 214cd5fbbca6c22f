@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Which of request, family and client decides, and that `.none` means none.
struct InheritedSettingsTests {
  private struct Get: APIRequest {
    var path: Path { "/a" }
    var family: RequestFamily?
    var retries = RetryPolicy.inherited
    var joining = JoinRule.inherited
    var overlap: Overlap { Overlap(joining: joining) }
    typealias Response = String
  }

  private struct Name: Codable, Sendable, Equatable { let firstName: String }

  private static let envelope = Envelope(value: "data")
  private static let quick = RetryPolicy(attempts: 3, firstDelay: .zero, busyDelay: .zero)

  // MARK: - None means none

  @Test(arguments: [
    (RetryPolicy.none, 1), (.inherited, 3), (RetryPolicy(attempts: 2, firstDelay: .zero, busyDelay: .zero), 2),
  ])
  func `a request's retries beat the client's`(retries: RetryPolicy, attempts: Int) async {
    let bench = ScriptedClient {
      $0.retries = Self.quick
    } answer: { _ in
      .status(503)
    }
    _ = await bench.failure(of: Get(retries: retries))
    #expect(bench.transport.requests.count == attempts)
  }

  @Test(arguments: [(RetryPolicy.none, 1), (.inherited, 3)])
  func `an option for retries beats the request's`(retries: RetryPolicy, attempts: Int) async {
    let bench = ScriptedClient(answer: { _ in .status(503) })
    _ = await bench.failure(of: Get(retries: Self.quick), options: CallOptions(retries: retries))
    #expect(bench.transport.requests.count == attempts)
  }

  @Test func `a family without retries sends once`() async {
    let bench = ScriptedClient {
      $0.retries = Self.quick
    } answer: { _ in
      .status(503)
    }
    _ = await bench.failure(of: Get(family: RequestFamily("shop", retries: .none)))
    #expect(bench.transport.requests.count == 1)
  }

  private struct Limited: APIRequest {
    var path: Path { "/a" }
    var family: RequestFamily?
    var bodyLimit = BodyLimit.inherited
    var count = 100
    var arguments: Arguments { ["n": count] }
    var validation: ResponseValidation { ResponseValidation(bodyLimit: bodyLimit) }
    typealias Response = String
  }

  /// The client allows 40 bytes. A limit of the family, the request or the call replaces that of the next level.
  @Test(arguments: [
    (BodyLimit.inherited, BodyLimit.inherited, BodyLimit.inherited, 40), (.bytes(30), .inherited, .inherited, 30),
    (.bytes(30), .bytes(20), .inherited, 20), (.bytes(30), .bytes(20), .bytes(50), 50),
    (.inherited, .bytes(50), .inherited, 50),
    (.inherited, .inherited, .bytes(-1), 0),
  ])
  func `nearest body limit applies`(family: BodyLimit, request: BodyLimit, call: BodyLimit, most: Int) async throws {
    let server = try LoopbackServer { .text(String(repeating: "x", count: Int($0.query?.dropFirst(2) ?? "") ?? 0)) }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.limits = ResponseLimits(bodyBytes: 40)
    let client = APIClient(configuration)
    for (count, isRight) in [(most, true), (most + 1, false)] {
      let request = Limited(
        family: RequestFamily("f", validation: ResponseValidation(bodyLimit: family)), bodyLimit: request, count: count)
      let outcome = await client.outcome(of: request, options: CallOptions(bodyLimit: call))
      #expect((outcome.error?.transportKind == .tooLarge) == !isRight, "\(count)")
      #expect((outcome.value?.utf8.count == count) == isRight)
    }
  }

  @Test func `calls with other body limits share no exchange`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .text(String(repeating: "x", count: 100)).held(at: gate) }
    let client = APIClient(baseURL: server.url)
    async let short = client.outcome(of: Limited(bodyLimit: .bytes(10)))
    async let long = client.outcome(of: Limited())
    try await server.wait { $0.requests.count == 2 }
    gate.open()
    let (first, second) = await (short, long)
    #expect(first.error?.transportKind == .tooLarge && second.value?.utf8.count == 100)
    #expect(server.requests.count == 2)
  }

  @Test(arguments: [(Envelope.none, #"{"data":"x"}"#), (.inherited, "x"), (InheritedSettingsTests.envelope, "x")])
  func `no envelope is the whole body`(envelope: Envelope, expected: String) async throws {
    let bench = ScriptedClient {
      $0.validation.envelope = Self.envelope
    } answer: { _ in
      .json(#"{"data":"x"}"#)
    }
    let value = try await bench.client.send(Ask<JSONValue>(envelope: envelope))
    #expect(value.stringValue ?? "\(value)" == expected)
  }

  @Test func `a family without envelope reads the body`() async throws {
    let bench = ScriptedClient {
      $0.validation.envelope = Self.envelope
    } answer: { _ in
      .json(#"{"firstName":"a"}"#)
    }
    let request = Ask<Name>(family: RequestFamily("people", validation: ResponseValidation(envelope: .none)))
    #expect(try await bench.client.send(request) == Name(firstName: "a"))
  }

  // MARK: - What a changed copy is

  @Test func `a changed copy is not inherited`() async {
    var retries = RetryPolicy.inherited
    retries.attempts = 2
    retries.busyDelay = .zero
    var envelope = Envelope.inherited
    envelope.value = "other"
    var style = ArgumentStyle.inherited
    style.booleans = .digits
    let bench = ScriptedClient {
      $0.retries = Self.quick
      $0.validation.envelope = Self.envelope
    } answer: { _ in
      .status(503)
    }
    _ = await bench.failure(of: Get(retries: retries))
    #expect(bench.transport.requests.count == 2)
    #expect(envelope == Envelope(value: "other") && style == ArgumentStyle(booleans: .digits))
    #expect(RetryPolicy.inherited != .none && Envelope.inherited != .none && ArgumentStyle.inherited != ArgumentStyle())
  }

  @Test(arguments: [
    (StatusRule.inherited, 404, true), (.inherited, 200, false), (.inherited.or([200]), 200, true),
    (.inherited.or([200]), 404, true), (.inherited.or([200]), 500, false), (StatusRule.range(500...500), 404, false),
  ])
  func `an inherited status rule adds codes`(rule: StatusRule, status: Int, isAccepted: Bool) async {
    let bench = ScriptedClient {
      $0.validation.status = [404]
    } answer: { _ in
      .status(status)
    }
    #expect((await bench.failure(of: Sending(statusRule: rule)) == nil) == isAccepted)
  }

  @Test func `an inherited rule of a client is its default`() async throws {
    let bench = ScriptedClient(
      {
        ($0.validation.status, $0.validation.envelope) = (.inherited, .inherited)
        ($0.redirects, $0.retries) = (.inherited, .inherited)
        ($0.formats.jsonDecoding, $0.formats.jsonEncoding) = (.inherited, .inherited)
        ($0.formats.arguments, $0.formats.argumentStyle) = (.inherited, .inherited)
        ($0.overlap.joining, $0.cache.policy) = (.inherited, .inherited)
      },
      answer: { request in
        request.url.path == "/b" ? .json(#"{"firstName":"a"}"#) : .redirect(to: "/b")
      })
    #expect(try await bench.client.send(Ask<Name>(arguments: ["x": true])) == Name(firstName: "a"))
    #expect(bench.transport.requests.map(\.url.string) == ["http://h.example/p?x=true", "http://h.example/b"])
    #expect(await bench.client.outcome(of: Ask<Name>(path: "/b", statusRule: [404])).error?.code == .status)
  }

  // MARK: - What a family can set

  @Test func `one line makes a JSON service`() async throws {
    let bench = ScriptedClient { $0.formats.arguments = .jsonByMethod }
    #expect(try await bench.sent(Sending(method: .post, arguments: ["a": 1]))?.text == #"{"a":1}"#)
    #expect(bench.transport.requests.last?.fields[.contentType] == "application/json")
    #expect(try await bench.url(Sending(arguments: ["a": 1])) == "http://h.example/p?a=1")
    #expect(try await bench.sent(Sending(method: .post))?.body == nil)
    let forms = RequestFamily("forms", formats: Formats(arguments: .byMethod))
    #expect(try await bench.sent(Sending(method: .post, family: forms, arguments: ["a": 1]))?.text == "a=1")
  }

  @Test func `a family sets how JSON is read and written`() async throws {
    let snake = RequestFamily(
      "snake",
      formats: Formats(
        jsonDecoding: .fast(keys: .convertFromSnakeCase), jsonEncoding: .fast(keys: .convertToSnakeCase)))
    let bench = ScriptedClient(answer: { _ in .json(#"{"first_name":"a"}"#) })
    let request = Ask<Name>(method: .post, family: snake, body: .json(Name(firstName: "b")))
    #expect(try await bench.client.send(request) == Name(firstName: "a"))
    #expect(bench.transport.requests.last?.text == #"{"first_name":"b"}"#)
    #expect(await bench.failure(of: Ask<Name>())?.code == .decoding)
  }

  @Test func `a family sets how redirects are followed`() async {
    let bench = ScriptedClient(answer: { _ in .redirect(to: "/b") })
    let family = RequestFamily("strict", redirects: .never)
    #expect(await bench.failure(of: Sending(family: family))?.stage == .redirect)
    #expect(bench.transport.requests.count == 1)
    #expect(await bench.failure(of: Sending(family: family, redirects: .manual))?.code == .status)
  }

  @Test(arguments: [
    (JoinRule.inherited, JoinRule.never, 2), (.safe, .never, 1), (.inherited, .inherited, 1), (.never, .safe, 2),
  ])
  func `a family sets which calls are joined`(own: JoinRule, family: JoinRule, requests: Int) async {
    let latch = Latch()
    let bench = ScriptedClient(answer: { _ in
      await latch.waitStubbornly()
      return .text("x")
    })
    let request = Get(family: RequestFamily("one", overlap: Overlap(joining: family)), joining: own)
    async let first = bench.client.outcome(of: request)
    async let second = bench.client.outcome(of: request)
    let waiting = requests == 1 ? 2 : 0
    #expect(
      await eventually {
        bench.client.services.joining.counts.waiting == waiting && bench.transport.requests.count == requests
      })
    latch.open()
    _ = await (first, second)
    #expect(bench.transport.requests.count == requests)
  }
}
