#if os(Linux)
  import CodedSamples
  import Errand
  import ErrandDecoding
  import ErrandTesting
  import Foundation
  import Testing

  /// Bytes after the end of a coded body, over a real socket. The next request to the same server must succeed.
  struct CodedTailTests {
    struct Tail: Sendable, CustomTestStringConvertible {
      let coding: ContentCoding
      let bytes: [UInt8]
      /// The number of further kibibytes; nil for bytes without end.
      let more: Int?
      var testDescription: String { "\(coding) \(bytes) \(more.map { "\($0) KiB" } ?? "endless")" }

      private static let starts: [(ContentCoding, UInt8)] = [(.gzip, 0x1F), (.zstd, 0x28), (.zstd, 0x5F), (.br, 0)]
      static let all = starts.flatMap { coding, first in
        [0, 2_048, nil].map { Tail(coding: coding, bytes: [first], more: $0) }
      }

      func server() throws -> LoopbackServer {
        try LoopbackServer { request in
          guard request.path != "/next" else { return .ok("right") }
          let coded = CodedSamples.text(in: coding) + bytes
          var headers: LoopbackHeaders = ["Content-Type": "text/plain", "Content-Encoding": coding.rawValue]
          if let more { headers["Content-Length"] = "\(coded.count + more << 10)" }
          let zeros = [UInt8](repeating: 0, count: 1_024)
          return LoopbackAnswer([.head(status: 200, headers: headers), .body(coded), .body(zeros, times: more)])
        }
      }
    }

    @Test(arguments: Tail.all, Carrier.allCases)
    func `bytes after a coded body are ignored`(tail: Tail, carrier: Carrier) async throws {
      let server = try tail.server()
      let transport = carrier.transport()
      let client = transport.client(at: server)
      #expect(try await client.send(Ask<String>()) == CodedSamples.text)
      #expect(try await client.send(Ask<String>(path: "/next")) == "right")
      transport.expectToHaveCarriedAll(of: server)
    }

    @Test(arguments: Tail.all, Carrier.allCases)
    func `a stream ends after a coded body`(tail: Tail, carrier: Carrier) async throws {
      let server = try tail.server()
      let transport = carrier.transport()
      let client = transport.client(at: server)
      var body = Data()
      for try await piece in try await client.stream(Ask<Data>()) { body += piece }
      #expect(body == Data(CodedSamples.text.utf8))
      #expect(try await client.send(Ask<String>(path: "/next")) == "right")
      transport.expectToHaveCarriedAll(of: server)
    }
  }
#endif
