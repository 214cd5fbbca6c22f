import Errand
import ErrandSupport
import ErrandTesting
import Foundation

/// A body that goes past memory into a sink.
struct DownloadScene: DemoScene {
  let title = "A download through a body sink: no memory, and no error page in the file"
  let declared = #"""
    final class IntoFile: BodySink {
      func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition { .sink }
      func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
        try file.write(contentsOf: piece)
        return true
      }
      func end() throws { try file.synchronize() }
    }
    let options = CallOptions(bodySink: sink)
    _ = try await client.send(GetFilm(id: 1), options: options)
    let refused = await client.outcome(of: GetFilm(id: 2), options: options)
    """#

  struct GetFilm: APIRequest {
    let id: Int
    var path: Path { "/films/\(id)" }
    var server: RequestServer { .cdn }
    typealias Response = Nothing
  }

  final class IntoFile: BodySink {
    private let file: FileHandle
    private let pieces = Locked(0)

    init(_ file: FileHandle) { self.file = file }

    var pieceCount: Int { pieces.withLock { $0 } }

    func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
      pieces.withLock { $0 += 1 }
      try file.write(contentsOf: piece)
      return true
    }
    func end() throws { try file.synchronize() }
  }

  static let length = 5 << 20

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    request.path == "/films/1" ? .generated(count: Self.length) : .status(404, body: "<h1>no such film</h1>")
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let place = FileManager.default.temporaryDirectory.appending(path: "errand-demo-\(UUID().uuidString)")
    try Data().write(to: place)
    defer { try? FileManager.default.removeItem(at: place) }
    let sink = IntoFile(try FileHandle(forWritingTo: place))

    let options = CallOptions(bodySink: sink)
    _ = try await client.send(GetFilm(id: 1), options: options)
    let film = try Data(contentsOf: place)
    stage.showGot("\(Wording.bytes(Int64(film.count))) in \(sink.pieceCount) pieces")
    let refused = await client.outcome(of: GetFilm(id: 2), options: options)
    stage.showGot(refused.error)

    for request in stage.requests(to: .cdn) { stage.showSent(request, to: .cdn) }
    let isWhole = [0, 250, 251, 1 << 20, Self.length - 1].allSatisfy {
      film[$0] == LoopbackAnswer.generatedByte(at: $0)
    }
    stage.claim("the file holds every byte of it", film.count == Self.length && isWhole)
    stage.claim("the error page of the second did not reach it", try Data(contentsOf: place).count == Self.length)
    stage.claim("that page is in the error", refused.error?.response?.body == Data("<h1>no such film</h1>".utf8))
  }
}
