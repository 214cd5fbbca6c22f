#if os(Linux)
  import CNGHTTP2
  import ErrandHTTP
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  private func moment(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
  }

  struct HTTP2FrameBudgetTests {
    @Test func `a flood uses up the points`() {
      var budget = HTTP2FrameBudget(now: moment(0))
      for _ in 0..<HTTP2FrameBudget.capacity { #expect(budget.spend(1, now: moment(1)) == true) }
      #expect(budget.spend(1, now: moment(1)) == false)
    }

    @Test func `points return with time and content`() {
      var budget = HTTP2FrameBudget(now: moment(0))
      _ = budget.spend(HTTP2FrameBudget.capacity, now: moment(0))
      #expect(budget.spend(100, now: moment(1000)) == true)
      #expect(budget.spend(1, now: moment(1000)) == false)
      budget.earn(5)
      #expect(budget.spend(4, now: moment(1000)) == true)
    }

    @Test func `points never exceed the capacity`() {
      var budget = HTTP2FrameBudget(now: moment(0))
      budget.earn(1_000_000)
      #expect(budget.spend(HTTP2FrameBudget.capacity, now: moment(900_000_000)) == true)
      #expect(budget.spend(1, now: moment(900_000_000)) == false)
    }

    @Test func `one frame each few milliseconds is allowed`() {
      var budget = HTTP2FrameBudget(now: moment(0))
      for step in 0..<100_000 where !budget.spend(1, now: moment(Int64(step) * 11)) {
        Issue.record("the budget is used up after \(step) frames")
        return
      }
    }

    /// Half a point returns between two frames, so the points last twice as long.
    @Test func `parts of a point are not lost`() {
      var budget = HTTP2FrameBudget(now: moment(0))
      let frames = (1...).first { !budget.spend(1, now: moment(Int64($0) * 5)) }
      #expect(frames == 2 * HTTP2FrameBudget.capacity + 1)
    }
  }

  struct HTTP2ContinuationCounterTests {
    @Test func `only CONTINUATION frames are counted, in any pieces`() {
      let kinds: [(kind: UInt8, length: Int)] = [(9, 0), (0, 9), (9, 300), (1, 9), (0, 0), (9, 1)]
      let frames = kinds.flatMap { FramePeer.frame($0.kind, flags: 9, 9, [UInt8](repeating: 9, count: $0.length)) }
      for size in 1...frames.count {
        var counter = HTTP2ContinuationCounter()
        var found = 0
        for start in stride(from: 0, to: frames.count, by: size) {
          found += frames[start..<min(start + size, frames.count)].withUnsafeBytes { counter.count(in: $0) }
        }
        #expect(found == 3)
      }
    }
  }

  struct SharedPoolTests {
    private final class Thing {}

    private static func origin(_ host: String) throws -> HTTPURL.Origin { try HTTPURL("http://\(host)/").origin }

    @Test func `a connection is shared while it is usable`() throws {
      let (one, two) = (Thing(), Thing())
      let origin = try Self.origin("a")
      var pool = SharedPool<Thing>(most: 9, age: .seconds(10))
      pool.insert(one, for: origin)
      pool.insert(two, for: origin)
      for _ in 0..<3 { #expect(pool.use(for: origin) { _ in true } === one && pool.idleCount == 0) }
      #expect(pool.use(for: origin) { $0 !== one } === two)
      #expect(pool.use(for: try Self.origin("b")) { _ in true } == nil)
      pool.remove(one, of: origin)
      #expect(pool.use(for: origin) { $0 === one } == nil && pool.contains(origin))
    }

    @Test func `only idle connections expire`() throws {
      let things = (0..<3).map { _ in Thing() }
      let origin = try Self.origin("a")
      var pool = SharedPool<Thing>(most: 9, age: .seconds(10))
      for thing in things { pool.insert(thing, for: origin) }
      #expect(pool.nextExpiry == nil && pool.expire(now: moment(99_000)).isEmpty)
      _ = pool.keep(things[0], for: origin, now: moment(0))
      _ = pool.keep(things[1], for: origin, now: moment(1000))
      #expect(pool.nextExpiry == moment(10_000) && pool.idleCount == 2)
      #expect(pool.use(for: origin) { $0 === things[0] } === things[0] && pool.idleCount == 1)
      #expect(pool.expire(now: moment(10_500)).isEmpty && pool.nextExpiry == moment(11_000))
      #expect(pool.expire(now: moment(11_000)).map(ObjectIdentifier.init) == [ObjectIdentifier(things[1])])
      #expect(pool.nextExpiry == nil && pool.idleCount == 0)
    }

    @Test func `the limit closes the oldest idle connection`() throws {
      let things = (0..<3).map { _ in Thing() }
      var pool = SharedPool<Thing>(most: 2, age: .seconds(10))
      var closed: [Thing] = []
      for (second, thing) in things.enumerated() {
        let origin = try Self.origin("h\(second)")
        pool.insert(thing, for: origin)
        closed += pool.keep(thing, for: origin, now: moment(Int64(second)))
        #expect(pool.keep(thing, for: origin, now: moment(Int64(second))).isEmpty)
      }
      #expect(closed.count == 1 && closed.first === things[0] && pool.idleCount == 2)
      #expect(pool.removeAll().count == 2 && pool.idleCount == 0 && pool.nextExpiry == nil)
    }
  }

  struct HTTP2RequestHeadTests {
    private static func fields(_ request: HTTPRequest) -> [(name: String, value: [UInt8], isSecret: Bool)] {
      var head = HTTP2RequestHead()
      for _ in 0..<2 {
        head.write(request, upload: request.body.map { BodyUpload($0) }, expectsContinue: false)
      }
      return head.withList { list, count in
        UnsafeBufferPointer(start: list, count: count).map { field in
          (
            String(decoding: UnsafeBufferPointer(start: field.name, count: field.namelen), as: UTF8.self),
            Array(UnsafeBufferPointer(start: field.value, count: field.valuelen)),
            field.flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0
          )
        }
      }
    }

    @Test func `the pseudo-header fields come first`() throws {
      for (url, authority, path) in [
        ("http://a.example/x?y=1#z", "a.example", "/x?y=1"), ("http://a.example:81", "a.example:81", "/"),
        ("http://a.example?q", "a.example", "/?q"), ("http://[::1]:80/", "[::1]", "/"),
      ] {
        let fields = Self.fields(HTTPRequest(method: "PURGE", url: try HTTPURL(url), fields: ["X-Y": "z"]))
        let texts = fields.map { "\($0.name) \(String(decoding: $0.value, as: UTF8.self))" }
        #expect(texts == [":method PURGE", ":scheme http", ":authority \(authority)", ":path \(path)", "x-y z"])
      }
    }

    @Test func `the content length is sent if it is known`() throws {
      let body = HTTPBody(Data([1, 2, 3]))
      let stream = HTTPBody.stream { flow in PieceSource([], PieceSource.Log(), flow) { _ in } }
      for (method, body, expected) in [
        (HTTPMethod.post, body, "3"), (.post, nil, "0"), (.get, nil, nil), (.head, nil, nil), (.put, stream, nil),
        ("DELETE", nil, nil), ("PATCH", nil, "0"),
      ] as [(HTTPMethod, HTTPBody?, String?)] {
        let fields = Self.fields(try HTTPRequest(method: method, url: "http://a.example/", body: body))
        let length = fields.first { $0.name == "content-length" }
        #expect(length.map { String(decoding: $0.value, as: UTF8.self) } == expected)
      }
    }

    @Test func `secrets are never indexed`() throws {
      var fields: HTTPFields = [
        "Authorization": "Bearer x", "Cookie": "a=1", "X-Api-Key": "k", "X-Auth-Token": "t", "Accept": "*/*",
      ]
      fields.append(HTTPField("X-Session", "s", isSecret: true))
      let written = Self.fields(try HTTPRequest(url: "http://a.example/", fields: fields))
      let secrets = ["authorization", "cookie", "x-api-key", "x-auth-token", "x-session"]
      #expect(written.filter(\.isSecret).map(\.name) == secrets)
    }

    @Test func `cookies and answers keep their original bytes`() throws {
      let fields = HTTPFields([
        HTTPField(.cookie, "a=\u{F7E9}"), HTTPField("X", "\u{F7E9}"), HTTPField(.authorization, "Digest a=\u{F7E9}"),
      ])
      let written = Self.fields(try HTTPRequest(url: "http://a.example/", fields: fields))
      #expect(written.first { $0.name == "cookie" }?.value == Array("a=".utf8) + [0xE9])
      #expect(written.first { $0.name == "authorization" }?.value == Array("Digest a=".utf8) + [0xE9])
      #expect(written.first { $0.name == "x" }?.value == Array("\u{F7E9}".utf8))
    }
  }

  struct HTTP2ConfigurationTests {
    @Test func `each version offers its protocols`() {
      for (version, protocols) in [
        (HTTPVersionPolicy.automatic, ["h2", "http/1.1"]), (.http2, ["h2", "http/1.1"]), (.http1Only, ["http/1.1"]),
        (.http2PriorKnowledge, ["h2"]),
      ] {
        var configuration = EngineConfiguration()
        configuration.httpVersion = version
        #expect(configuration.applicationProtocols == protocols)
      }
      #expect(EngineConfiguration().httpVersion == .automatic)
    }
  }
#endif
