import Errand
import ErrandTesting
import Foundation

/// A folder of its own, a server of one file, and a client.
final class DownloadFixture: Sendable {
  static let size = 3_000_000

  let folder: URL
  let resource: RangeResource
  let server: RangeServer
  let client: APIClient

  init(
    size: Int = DownloadFixture.size, signedUses: Int? = nil,
    _ plan: @escaping @Sendable (Int, inout RangeBehaviour) -> Void = { _, _ in }
  ) throws {
    let resource = RangeResource(size: size, seed: 1)
    self.resource = resource
    server = try RangeServer(signedUses: signedUses) { number in
      var behaviour = RangeBehaviour(resource)
      plan(number, &behaviour)
      return behaviour
    }
    client = APIClient(baseURL: server.loopback.url)
    folder = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    server.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// The file that is wanted.
  var file: URL { folder.appending(path: "film.bin", directoryHint: .notDirectory) }

  /// What lies in the folder, in order.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

  /// The length of the part.
  var partBytes: Int {
    let values = try? URL(filePath: file.path + ".part").resourceValues(forKeys: [.fileSizeKey])
    return values?.fileSize ?? 0
  }

  /// Asks for the file.
  func request(_ change: (inout Download) -> Void = { _ in }) -> FileDownload {
    var download = Download.to(file)
    change(&download)
    return FileDownload(server.url, download)
  }

  func send(_ change: (inout Download) -> Void = { _ in }) async -> Outcome<DownloadedFile> {
    await client.outcome(of: request(change))
  }

  /// Whether the file is the resource, byte for byte.
  func isRight(_ other: RangeResource? = nil) -> Bool {
    guard let data = try? Data(contentsOf: file) else { return false }
    let resource = other ?? resource
    return data.count == resource.size && resource.has(data, at: 0)
  }
}
