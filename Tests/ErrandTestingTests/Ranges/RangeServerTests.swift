import ErrandCore
import Foundation
import Testing

@testable import ErrandTesting

/// Tests correct responses and failures of the range server.
@Suite(.serialized)  // Each test holds sockets, and a process may have no more than 1,024 descriptors.
struct RangeServerTests {
  private static let file = RangeResource(size: 1_000)

  @Test(arguments: [
    ("bytes=0-", 0..<1_000), ("bytes=10-", 10..<1_000), ("bytes=10-19", 10..<20), ("bytes=999-", 999..<1_000),
    ("bytes=-5", 995..<1_000), ("bytes=-5000", 0..<1_000), ("bytes=990-5000", 990..<1_000), ("Bytes=1-1", 1..<2),
    ("bytes=5-9223372036854775807", 5..<1_000),
  ])
  func `range is honoured`(range: String, piece: Range<Int>) async throws {
    let server = try RangeServer(RangeBehaviour(Self.file))
    let probe = try await RangeProbe(server, "Range: \(range)")
    #expect(probe.status == 206)
    #expect(probe.fields.values("Content-Range") == ["bytes \(piece.lowerBound)-\(piece.upperBound - 1)/1000"])
    #expect(probe.fields["Content-Length"] == String(piece.count))
    #expect(probe.fields["ETag"] == Self.file.entityTag)
    #expect(Data(probe.body) == Self.file.bytes(in: piece))
    #expect(server.requests.map(\.servedRange) == [piece])
    #expect(server.requests.map(\.range) == [range])
    #expect(server.servedBytes == piece.count)
  }

  @Test(arguments: [
    "bytes=", "bytes=-", "bytes=5-4", "bytes=1-2,5-6", "lines=1-2", "bytes", "bytes=a-", "bytes=-b", "bytes=+1-2",
    "bytes=1--2", "bytes=99999999999999999999-", "",
  ])
  func `invalid range gets the whole file`(range: String) async throws {
    let server = try RangeServer(RangeBehaviour(Self.file))
    let probe = try await RangeProbe(server, "Range: \(range)")
    #expect(probe.status == 200)
    #expect(Self.file.has(probe.body, at: 0) && probe.body.count == 1_000)
    #expect(probe.fields["Content-Range"] == nil)
    #expect(probe.fields["Accept-Ranges"] == "bytes")
  }

  @Test(arguments: ["bytes=1000-", "bytes=5000-6000", "bytes=-0"])
  func `range outside the file is 416`(range: String) async throws {
    let server = try RangeServer(RangeBehaviour(Self.file))
    let probe = try await RangeProbe(server, "Range: \(range)")
    #expect(probe.status == 416)
    #expect(probe.fields["Content-Range"] == "bytes */1000")
    #expect(server.servedBytes == 0)
    #expect(server.requests.first?.servedRange == nil)
  }

  @Test func `HEAD response has no content`() async throws {
    let server = try RangeServer(RangeBehaviour(Self.file))
    let probe = try await RangeProbe(server, method: "HEAD", "Range: bytes=5-")
    #expect(probe.status == 200)
    #expect(probe.fields["Content-Length"] == "1000")
    #expect(probe.body.isEmpty && server.servedBytes == 0)
  }

  @Test(arguments: [
    (RangeBehaviour.Validators.strongTag, "\"v1-1000\"", 206), (.strongTag, "\"v2-1000\"", 200),
    (.strongTag, "W/\"v1-1000\"", 200), (.weakTag, "W/\"v1-1000\"", 200), (.weakTag, "\"v1-1000\"", 200),
    (.none, "\"v1-1000\"", 200), (.lastModified(secondsBefore: 60), "Fri, 02 Jan 1970 00:00:00 GMT", 206),
    (.lastModified(secondsBefore: 60), "Fri, 02 Jan 1970 00:00:01 GMT", 200),
    (.strongTag, "Fri, 02 Jan 1970 00:00:00 GMT", 200), (.both(secondsBefore: 0), "\"v1-1000\"", 206),
  ])
  func `If-Range is honoured`(validators: RangeBehaviour.Validators, condition: String, status: Int) async throws {
    let server = try RangeServer(RangeBehaviour(Self.file) { $0.validators = validators })
    let probe = try await RangeProbe(server, "Range: bytes=5-", "If-Range: \(condition)")
    #expect(probe.status == status)
    #expect(probe.body.count == (status == 206 ? 995 : 1_000))
    #expect(server.requests.first?.ifRange == condition)
  }

  @Test(arguments: [
    (RangeBehaviour.Validators.strongTag, ["\"v1-1000\"", nil, nil] as [String?]),
    (.weakTag, ["W/\"v1-1000\"", nil, nil]), (.none, [nil, nil, nil]),
    (.lastModified(secondsBefore: 60), [nil, "Fri, 02 Jan 1970 00:00:00 GMT", "Fri, 02 Jan 1970 00:01:00 GMT"]),
    (.both(secondsBefore: 0), ["\"v1-1000\"", "Fri, 02 Jan 1970 00:00:00 GMT", "Fri, 02 Jan 1970 00:00:00 GMT"]),
  ])
  func `validators are sent`(validators: RangeBehaviour.Validators, expected: [String?]) async throws {
    let server = try RangeServer(RangeBehaviour(Self.file) { $0.validators = validators })
    let probe = try await RangeProbe(server)
    #expect([probe.fields["ETag"], probe.fields["Last-Modified"], probe.fields["Date"]] == expected)
  }

  @Test(arguments: [
    (RangeBehaviour.Ranges.honoured, RangeBehaviour.IfRange.ignored, 206), (.honoured, .neverMet, 200),
    (.ignored, .ignored, 200), (.refused, .ignored, 416), (.refused, .honoured, 200),
  ])
  func `Range and If-Range can be ignored`(
    ranges: RangeBehaviour.Ranges, ifRange: RangeBehaviour.IfRange, status: Int
  ) async throws {
    let behaviour = RangeBehaviour(Self.file) {
      $0.ranges = ranges
      $0.ifRange = ifRange
    }
    let probe = try await RangeProbe(try RangeServer(behaviour), "Range: bytes=5-", "If-Range: \"other\"")
    #expect(probe.status == status)
  }

  @Test(arguments: [
    (RangeBehaviour.Fault.cut(after: 300), 206, 300, RawClient.End.closed),
    (.reset(after: 300), 206, 300, .reset),
    (.cut(after: 0), 206, 0, .closed),
    (.status(503, ["Retry-After": "1"]), 503, 8, .closed),
    (.closeBeforeResponse, 0, 0, .closed),
  ])
  func `fault affects one request`(
    fault: RangeBehaviour.Fault, status: Int, count: Int, end: RawClient.End
  ) async throws {
    let server = try RangeServer { number in RangeBehaviour(Self.file) { $0.fault = number == 2 ? fault : nil } }
    #expect(try await RangeProbe(server).body.count == 1_000)
    let probe = try await RangeProbe(server, "Range: bytes=100-")
    #expect(probe.status == status && probe.body.count == count && probe.end == end)
    #expect(server.servedBytes == 1_000 + (status == 206 ? count : 0))
    #expect(try await RangeProbe(server).body.count == 1_000)
    #expect(server.requests.map(\.number) == [1, 2, 3])
    #expect(server.requests.map(\.status) == [200, status, 200])
  }

  @Test func `stall ends when gate opens`() async throws {
    let gate = Gate()
    let server = try RangeServer(RangeBehaviour(Self.file) { $0.fault = .stall(after: 400, until: gate) })
    async let probe = RangeProbe(server)
    try await gate.reached()
    #expect(server.servedBytes == 400)
    gate.open()
    #expect(try await Self.file.has(probe.body, at: 0))
    #expect(server.servedBytes == 1_000)
  }

  @Test func `pieces wait at the gate`() async throws {
    let gate = Gate()
    let server = try RangeServer(
      RangeBehaviour(Self.file) {
        $0.pace = .init(100, through: gate)
        $0.fault = .cut(after: 550)
      })
    async let probe = RangeProbe(server, "Range: bytes=10-")
    try await server.served(atLeast: 100)
    try await gate.reached()
    #expect(server.servedBytes == 100)
    gate.letPass()
    try await gate.reached(times: 2)
    #expect(server.servedBytes == 200)
    gate.open()
    #expect(try await Self.file.has(probe.body, at: 10))
    #expect(server.servedBytes == 550)
  }

  @Test func `file changes between requests`() async throws {
    let files = [RangeResource(size: 1_000, seed: 1), RangeResource(size: 900, seed: 2)]
    let server = try RangeServer { RangeBehaviour(files[$0 <= 2 ? 0 : 1]) }
    let condition = "If-Range: \(files[0].entityTag)"
    for (index, expected) in [(files[0], 206), (files[0], 206), (files[1], 200)].enumerated() {
      let probe = try await RangeProbe(server, "Range: bytes=5-", condition)
      #expect(probe.status == expected.1, "request \(index + 1)")
      #expect(expected.0.has(probe.body, at: probe.status == 206 ? 5 : 0))
    }
    server.answer { _ in RangeBehaviour(files[0]) }
    #expect(try await RangeProbe(server).fields["ETag"] == files[0].entityTag)
  }

  @Test func `signed URL expires`() async throws {
    let server = try RangeServer(signedUses: 2) { _ in RangeBehaviour(Self.file) }
    for signature in 1...2 {
      let redirect = try await RangeProbe(server)
      #expect(redirect.status == 302)
      let path = try #require(redirect.fields["Location"])
      #expect(path == "/\(signature)/file.bin")
      for status in [206, 206, 403, 403] {
        #expect(try await RangeProbe(server, path: path, "Range: bytes=1-").status == status)
      }
    }
    for path in ["/3/file.bin", "/0/file.bin", "/-1/file.bin", "/x", "/"] {
      #expect(try await RangeProbe(server, path: path).status == 404)
    }
    #expect(server.requests.map(\.number).prefix(5) == [nil, 1, 2, nil, nil])
    try await server.received(15)
  }

  @Test func `other paths are 404`() async throws {
    let server = try RangeServer(RangeBehaviour(Self.file))
    #expect(try await RangeProbe(server, path: "/other").status == 404)
    #expect(server.requests.map(\.number) == [nil])
  }

  @Test func `bytes are counted for disconnected client`() async throws {
    let server = try RangeServer(RangeBehaviour(RangeResource(size: 1 << 30)))
    let client = try RawClient(server.loopback, sending: "GET /file.bin HTTP/1.1\r\n\r\n")
    let reply = await client.receive(4 << 20)
    client.close()
    try await server.loopback.wait { $0.openConnectionCount == 0 }
    #expect(reply.bytes.count >= 4 << 20)
    #expect(server.servedBytes >= 4 << 20)
    #expect(server.servedBytes < 64 << 20)
  }
}
