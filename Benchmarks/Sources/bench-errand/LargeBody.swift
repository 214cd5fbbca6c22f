import Dispatch
import Errand
import ErrandHTTP
import Foundation
import Synchronization

/// A large response body that arrives during small calls.
struct LargeBody: Sendable {
  /// Drops the bytes of a body and counts them. A slow sink pauses the body for 10 ms after each MiB.
  private final class Sink: BodySink {
    private struct State {
      var bytes = 0
      var bytesSincePause = 0
      var flow: BodyFlow?
    }

    private let isSlow: Bool
    private let state = Mutex(State())
    var bytes: Int { state.withLock { $0.bytes } }

    init(isSlow: Bool) { self.isSlow = isSlow }

    func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition {
      state.withLock { $0.flow = flow }
      return .sink
    }

    func write(_ piece: UnsafeRawBufferPointer) -> Bool {
      let paused = state.withLock { state -> BodyFlow? in
        state.bytes += piece.count
        state.bytesSincePause += piece.count
        guard isSlow, state.bytesSincePause >= 1 << 20 else { return nil }
        state.bytesSincePause = 0
        return state.flow
      }
      guard let paused else { return true }
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) { paused.resume() }
      return false
    }

    func end() {}
  }

  /// Receives the body and returns the number of its bytes.
  let receive: @Sendable () async throws -> Int

  /// The body is dropped.
  static func dropped(_ url: String, over transport: any Transport, slowly: Bool = false) -> LargeBody {
    LargeBody {
      let sink = Sink(isSlow: slowly)
      _ = try await transport.send(Exchange(request: HTTPRequest(url: url), sink: sink))
      return sink.bytes
    }
  }

  /// The body goes into a file, which is then removed.
  static func file(_ url: String, by client: APIClient) -> LargeBody {
    LargeBody {
      let folder = FileManager.default.temporaryDirectory.appending(path: "errand-beside-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      return try await Int(client.send(FileDownload(url, .to(folder.appending(path: "large")))).bytes)
    }
  }
}
