import Foundation
import Testing

@testable import ErrandTesting

/// Tests that each wrong response is sent as described, and that nothing else changes.
@Suite(.serialized)  // Each test holds sockets, and a process may have no more than 1,024 descriptors.
struct RangeDeviationTests {
  private static let file = RangeResource(size: 1_000)

  private func probe(_ deviation: RangeDeviation, _ range: String = "bytes=100-199") async throws -> RangeProbe {
    try await RangeProbe(try RangeServer(RangeBehaviour(Self.file) { $0.deviation = deviation }), "Range: \(range)")
  }

  private static let deviations: [(RangeDeviation, [String], Range<Int>)] = [
    (.movedPart(by: 10), ["bytes 110-209/1000"], 110..<210),
    (.movedPart(by: -500), ["bytes 0-99/1000"], 0..<100),
    (.movedPart(by: 5_000), ["bytes 999-999/1000"], 999..<1_000),
    (.movedBytes(by: 10), ["bytes 100-199/1000"], 110..<210),
    (.shortened(to: 30), ["bytes 100-129/1000"], 100..<130),
    (.shortened(to: 0), ["bytes 100-100/1000"], 100..<101),
    (.noContentRange, [], 100..<200),
    (.twoContentRanges, ["bytes 100-199/1000", "bytes 99-198/1000"], 100..<200),
    (.contentRange("bytes 199-100/1000"), ["bytes 199-100/1000"], 100..<200),
    (.total(1_001), ["bytes 100-199/1001"], 100..<200),
    (.total(nil), ["bytes 100-199/*"], 100..<200),
    (.entityTag("\"other\""), ["bytes 100-199/1000"], 100..<200),
    (.contentEncoding("gzip"), ["bytes 100-199/1000"], 100..<200),
    (.contentLength(by: -20), ["bytes 100-199/1000"], 100..<180),
    (.unrequested(5..<6), ["bytes 100-199/1000"], 100..<200),
  ]

  @Test(arguments: deviations)
  func `wrong part is sent as described`(deviation: RangeDeviation, contentRanges: [String], piece: Range<Int>)
    async throws
  {
    let probe = try await probe(deviation)
    #expect(probe.status == 206)
    #expect(probe.fields.values("Content-Range") == contentRanges)
    #expect(probe.fields["Content-Length"] == String(piece.count))
    #expect(Data(probe.body) == Self.file.bytes(in: piece))
  }

  @Test func `fields name another version`() async throws {
    #expect(try await probe(.entityTag("\"other\"")).fields["ETag"] == "\"other\"")
    #expect(try await probe(.entityTag(nil)).fields["ETag"] == nil)
    #expect(try await probe(.contentEncoding("gzip")).fields["Content-Encoding"] == "gzip")
  }

  @Test func `more bytes than promised are sent`() async throws {
    let longer = try await probe(.contentLength(by: 20))
    #expect(longer.fields["Content-Length"] == "120" && longer.body.count == 120)
    let endless = try await probe(.overrun(by: 20))
    #expect(endless.fields["Content-Length"] == nil && endless.body.count == 120)
    #expect(endless.fields["Content-Range"] == "bytes 100-199/1000")
    #expect(Self.file.has(endless.body.prefix(100), at: 100))
  }

  @Test func `part is sent as multipart`() async throws {
    let probe = try await probe(.multipart)
    #expect(probe.status == 206 && probe.fields["Content-Range"] == nil)
    #expect(probe.fields["Content-Type"]?.hasPrefix("multipart/byteranges; boundary=") == true)
    #expect(probe.fields["Content-Length"] == String(probe.body.count))
    let text = String(decoding: probe.body, as: UTF8.self)
    #expect(text.contains("Content-Range: bytes 100-199/1000\r\n\r\n"))
    #expect(probe.body.count > 100)
  }

  @Test func `part is sent as whole file`() async throws {
    let probe = try await probe(.partAsWhole)
    #expect(probe.status == 200 && probe.fields["Content-Range"] == nil)
    #expect(Data(probe.body) == Self.file.bytes(in: 100..<200))
  }

  @Test func `unrequested part is sent`() async throws {
    let server = try RangeServer(RangeBehaviour(Self.file) { $0.deviation = .unrequested(5..<10) })
    let probe = try await RangeProbe(server)
    #expect(probe.status == 206 && probe.fields["Content-Range"] == "bytes 5-9/1000")
    #expect(Data(probe.body) == Self.file.bytes(in: 5..<10))
  }

  @Test(arguments: [(RangeDeviation.total(7), ["bytes */7"]), (.total(nil), ["bytes */*"]), (.noContentRange, [])])
  func `wrong 416 is sent as described`(deviation: RangeDeviation, contentRanges: [String]) async throws {
    let probe = try await probe(deviation, "bytes=1000-")
    #expect(probe.status == 416)
    #expect(probe.fields.values("Content-Range") == contentRanges)
  }

  @Test(arguments: [RangeDeviation.total(7), .noContentRange, .multipart, .entityTag(nil), .partAsWhole])
  func `whole file is sent without a deviation`(deviation: RangeDeviation) async throws {
    let server = try RangeServer(RangeBehaviour(Self.file) { $0.deviation = deviation })
    let probe = try await RangeProbe(server)
    #expect(probe.status == 200 && probe.fields["ETag"] == Self.file.entityTag)
    #expect(Data(probe.body) == Self.file.bytes(in: 0..<1_000))
  }

  @Test func `three framings are sent`() async throws {
    for (framing, length, coding) in [
      (RangeBehaviour.Framing.length, "1000", nil), (.chunked, nil, "chunked"), (.close, nil, nil),
    ] as [(RangeBehaviour.Framing, String?, String?)] {
      let probe = try await RangeProbe(try RangeServer(RangeBehaviour(Self.file) { $0.framing = framing }))
      #expect(probe.fields["Content-Length"] == length && probe.fields["Transfer-Encoding"] == coding)
      #expect(probe.end == .closed)
      let frame = coding == nil ? "" : "3e8\r\n"
      #expect(Data(probe.body.dropFirst(frame.utf8.count).prefix(1_000)) == Self.file.bytes(in: 0..<1_000))
      #expect(
        String(decoding: probe.body.dropFirst(frame.utf8.count + 1_000), as: UTF8.self)
          == (coding == nil ? "" : "\r\n0\r\n\r\n"))
    }
  }

  @Test func `configured digests are sent`() async throws {
    let server = try RangeServer(
      RangeBehaviour(Self.file) {
        $0.fields = ["Repr-Digest": "sha-256=:AAAA:"]
        $0.contentDigest = { "x=:\($0.lowerBound)-\($0.upperBound):" }
      })
    let probe = try await RangeProbe(server, "Range: bytes=5-9")
    #expect(probe.fields["Repr-Digest"] == "sha-256=:AAAA:")
    #expect(probe.fields["Content-Digest"] == "x=:5-10:")
  }
}
