import ErrandSupport
import ErrandCore
import ErrandTesting
import Foundation
import Testing

extension TransportConformance {
  static let bodies = [
    Check("sink receives the body in pieces", needs: .bodySink) { transport in
      let server = try LoopbackServer { _ in .generated(count: 1_000_000) }
      let sink = RecordingSink()
      let response = try await transport.send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
      #expect(response.body.isEmpty)
      #expect(sink.heads.map(\.status) == [200])
      #expect(sink.ends == 1)
      #expect(sink.bytes == Data((0..<1_000_000).map { LoopbackAnswer.generatedByte(at: $0) }))
    },
    Check("empty body ends the sink", needs: .bodySink) { transport in
      for status in [200, 204] {
        let server = try LoopbackServer { _ in .status(status) }
        let sink = RecordingSink()
        let response = try await transport.send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
        #expect(response.status == status && sink.pieces == 0)
        #expect(sink.ends == 1)
      }
    },
    Check("error page does not reach the sink", needs: .bodySink) { transport in
      let server = try LoopbackServer { _ in .status(404, body: "not here") }
      let sink = RecordingSink { $0.isSuccess ? .sink : .memory(limit: 100) }
      let response = try await transport.send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
      #expect(response.text == "not here")
      #expect(sink.pieces == 0)
      #expect(sink.ends == 0)
    },
    Check("long error page is truncated", needs: .bodySink) { transport in
      for answer in [LoopbackAnswer.generated(count: 2_000_000), .endless(), .endless(chunked: true)] {
        let server = try LoopbackServer { _ in answer }
        let sink = RecordingSink { _ in .memory(limit: 100) }
        let response = try await transport.send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
        #expect(response.body == Data((0..<100).map { LoopbackAnswer.generatedByte(at: $0) }))
        #expect(sink.pieces == 0 && sink.ends == 0)
      }
    },
    Check("discarded body leaves nothing", needs: .bodySink) { transport in
      let server = try LoopbackServer { _ in .generated(count: 300_000) }
      let sink = RecordingSink { _ in .discard }
      let response = try await transport.send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
      #expect(response.body.isEmpty)
      #expect(sink.pieces == 0)
      #expect(try await get(transport, server.url).body.count == 300_000)
      #expect(server.connectionCount == 1)
    },
    Check("paused sink continues after resume", needs: .bodySink) { transport in
      let server = try LoopbackServer { _ in .generated(count: 500_000) }
      let sink = RecordingSink { _ in
        .sink
      } onPiece: { number, flow in
        // Every second piece pauses. The resume comes from another thread, before or after the pause takes effect.
        guard number.isMultiple(of: 2) else { return true }
        Task.detached { flow.resume() }
        return false
      }
      _ = try await transport.send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
      #expect(sink.bytes == Data((0..<500_000).map { LoopbackAnswer.generatedByte(at: $0) }))
      #expect(sink.ends == 1)
    },
    Check("resume during the pausing write counts", needs: .bodySink) { transport in
      let server = try LoopbackServer { _ in .chunked(Array(repeating: "0123456789", count: 200)) }
      let sink = RecordingSink { _ in
        .sink
      } onPiece: { _, flow in
        flow.resume()
        return false
      }
      _ = try await transport.send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
      #expect(sink.bytes == Data(String(repeating: "0123456789", count: 200).utf8))
    },
    Check("error of a sink reaches the caller", needs: .bodySink) { transport in
      let server = try LoopbackServer { request in request.path == "/ok" ? .ok("fine") : .generated(count: 3_000_000) }
      let atHead = RecordingSink { _ in throw RecordingSink.Refusal() }
      let atPiece = RecordingSink { _ in
        .sink
      } onPiece: { number, _ in
        if number == 3 { throw RecordingSink.Refusal() }
        return true
      }
      for sink in [atHead, atPiece] {
        await #expect(throws: RecordingSink.Refusal()) {
          try await transport.send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
        }
        #expect(sink.ends == 0)
        #expect(try await get(transport, server.url + "/ok").text == "fine")
      }
    },
    Check("progress includes the last byte", needs: .progress) { transport in
      let server = try LoopbackServer { _ in .generated(count: 3_000_000) }
      let seen = Locked<[TransferProgress]>([])
      let body = Data(repeating: 7, count: 1_000_000)
      let start = MonotonicInstant.now
      _ = try await transport.send(
        Exchange(
          request: HTTPRequest(method: .post, url: server.url, body: HTTPBody(body)),
          onProgress: { report in seen.withLock { $0.append(report) } }))
      // Reports are at least 50 milliseconds apart. A slow machine has time for more reports.
      let took = start.duration(to: .now)
      for (direction, total) in [(TransferProgress.Direction.upload, 1_000_000), (.download, 3_000_000)] {
        let reports = seen.withLock { $0.filter { $0.direction == direction } }
        #expect(reports.last == TransferProgress(direction, bytes: Int64(total), total: Int64(total)))
        #expect(reports.map(\.bytes) == reports.map(\.bytes).sorted())
        #expect(reports.count < 100 || took > .seconds(4))
      }
    },
    Check("progress of a small body is reported once", needs: .progress) { transport in
      let server = try LoopbackServer { _ in .ok("hello") }
      let seen = Locked<[TransferProgress]>([])
      _ = try await transport.send(
        Exchange(
          request: HTTPRequest(method: .post, url: server.url, body: HTTPBody(Data([1, 2, 3]))),
          onProgress: { report in seen.withLock { $0.append(report) } }))
      #expect(
        seen.withLock { $0 } == [
          TransferProgress(.upload, bytes: 3, total: 3), TransferProgress(.download, bytes: 5, total: 5),
        ])
    },
    Check("early response to an upload is delivered") { transport in
      let server = try LoopbackServer()
      server.enqueue(.status(413, body: "too much").closing(), reception: .never)
      let request = try HTTPRequest(method: .post, url: server.url, body: HTTPBody(Data(repeating: 1, count: 8 << 20)))
      let response = try await transport.send(Exchange(request: request))
      #expect(response.status == 413)
      #expect(response.text == "too much")
    },
  ]
}
