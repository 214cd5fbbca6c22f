import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// The same server behind a client.
@Suite(.serialized)  // Each test holds sockets, and a process may have no more than 1,024 descriptors.
struct RangeServerClientTests {
  private struct GetFile: APIRequest {
    var range: String?
    var path: Path { "/file.bin" }
    var headers: RequestHeaders { range.map { ["Range": .init($0)] } ?? [:] }
  }

  private func client(_ server: RangeServer) -> APIClient {
    APIClient(baseURL: String(server.url.dropLast("/file.bin".count)))
  }

  @Test func `a client gets part and whole`() async throws {
    let file = RangeResource(size: 3_000_000, seed: 7)
    let server = try RangeServer(RangeBehaviour(file))
    let whole = try await client(server).response(GetFile())
    #expect(whole.status == 200 && file.has(whole.value, at: 0) && whole.value.count == 3_000_000)
    let part = try await client(server).response(GetFile(range: "bytes=1000000-"))
    #expect(part.status == 206 && file.has(part.value, at: 1_000_000) && part.value.count == 2_000_000)
    // Bytes are counted when the system has taken them: the client may have them before that.
    try await server.served(atLeast: 5_000_000)
    #expect(server.servedBytes == 5_000_000)
  }

  @Test func `a client follows to a signed address`() async throws {
    let file = RangeResource(size: 1_000)
    let server = try RangeServer(signedUses: 1) { _ in RangeBehaviour(file) }
    #expect(try await file.has(client(server).send(GetFile()), at: 0))
    #expect(server.requests.map(\.path) == ["/file.bin", "/1/file.bin"])
  }

  @Test func `a client notices a cut`() async throws {
    let server = try RangeServer(RangeBehaviour(RangeResource(size: 1_000)) { $0.fault = .cut(after: 999) })
    let error = try #require(await client(server).outcome(of: GetFile()).error)
    #expect(error.transportKind == .truncated)
  }

  /// Counts and checks what comes.
  private final class Checker: BodySink {
    private let file: RangeResource
    private let state: Mutex<(place: Int, wrong: Int)>
    init(_ file: RangeResource, from place: Int) {
      self.file = file
      state = Mutex((place, 0))
    }
    var result: (place: Int, wrong: Int) { state.withLock { $0 } }
    func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) -> Bool {
      state.withLock { state in
        // A look at both ends of a piece is enough to see that it stands in its place, and quick.
        for place in [0, piece.count - 1] where !file.has([piece[place]], at: state.place + place) { state.wrong += 1 }
        state.place += piece.count
      }
      return true
    }
    func end() {}
  }

  @Test func `gigabytes come from nowhere`() async throws {
    let file = RangeResource(size: 8 << 30)
    let server = try RangeServer(RangeBehaviour(file))
    let start = (8 << 30) - (256 << 20)
    let sink = Checker(file, from: start)
    let options = CallOptions(bodySink: sink)
    let answer = try await client(server).response(GetFile(range: "bytes=\(start)-"), options: options)
    #expect(answer.raw.head.fields["Content-Range"] == "bytes \(start)-\((8 << 30) - 1)/\(8 << 30)")
    #expect(sink.result == (8 << 30, 0))
    try await server.served(atLeast: 256 << 20)
    #expect(server.servedBytes == 256 << 20)
  }
}
