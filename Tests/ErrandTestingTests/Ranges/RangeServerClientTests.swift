import ErrandHTTP
import ErrandSupport
import Errand
import ErrandTesting
import Foundation
import Testing

/// Tests the range server with a client.
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

  @Test func `client receives part and whole`() async throws {
    let file = RangeResource(size: 3_000_000, seed: 7)
    let server = try RangeServer(RangeBehaviour(file))
    let whole = try await client(server).response(GetFile())
    #expect(whole.status == 200 && file.has(whole.value, at: 0) && whole.value.count == 3_000_000)
    let part = try await client(server).response(GetFile(range: "bytes=1000000-"))
    #expect(part.status == 206 && file.has(part.value, at: 1_000_000) && part.value.count == 2_000_000)
    // The server counts bytes after it has passed them to the system, and the client may receive them before.
    try await server.served(atLeast: 5_000_000)
    #expect(server.servedBytes == 5_000_000)
  }

  @Test func `client follows redirect to signed URL`() async throws {
    let file = RangeResource(size: 1_000)
    let server = try RangeServer(signedUses: 1) { _ in RangeBehaviour(file) }
    #expect(try await file.has(client(server).send(GetFile()), at: 0))
    #expect(server.requests.map(\.path) == ["/file.bin", "/1/file.bin"])
  }

  @Test func `client detects truncation`() async throws {
    let server = try RangeServer(RangeBehaviour(RangeResource(size: 1_000)) { $0.fault = .cut(after: 999) })
    let error = try #require(await client(server).outcome(of: GetFile()).error)
    #expect(error.transportKind == .truncated)
  }

  /// A sink that counts and checks the received bytes.
  private final class Checker: BodySink {
    private let file: RangeResource
    private let state: Locked<(place: Int, wrong: Int)>
    init(_ file: RangeResource, from place: Int) {
      self.file = file
      state = Locked((place, 0))
    }
    var result: (place: Int, wrong: Int) { state.withLock { $0 } }
    func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) -> Bool {
      state.withLock { state in
        // The first and the last byte are enough to verify the position of a piece, and checking them is fast.
        for place in [0, piece.count - 1] where !file.has([piece[place]], at: state.place + place) { state.wrong += 1 }
        state.place += piece.count
      }
      return true
    }
    func end() {}
  }

  @Test func `gigabytes are generated while sending`() async throws {
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
