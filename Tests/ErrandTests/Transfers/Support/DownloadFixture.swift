import Errand
import ErrandChecksum
import ErrandCore
import ErrandTesting
import ErrandTransfer
import Foundation

/// A temporary folder, a server with one file, and a client.
final class DownloadFixture: Sendable {
  static let size = 3_000_000

  let folder: URL
  let resource: RangeResource
  let server: RangeServer
  let client: APIClient

  /// - Parameter parent: The folder in which the temporary folder is created.
  init(
    size: Int = DownloadFixture.size, signedUses: Int? = nil, in parent: URL = .temporaryDirectory,
    files: any TransferFiles = SystemFiles(),
    configuration: ClientConfiguration = ClientConfiguration(baseURL: ""),
    _ plan: @escaping @Sendable (Int, inout RangeBehaviour) -> Void = { _, _ in }
  ) throws {
    let resource = RangeResource(size: size, seed: 1)
    self.resource = resource
    server = try RangeServer(signedUses: signedUses) { number in
      var behaviour = RangeBehaviour(resource)
      plan(number, &behaviour)
      return behaviour
    }
    client = APIClient(configuration, files: files)
    folder = parent.appending(path: "errand-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    server.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// A client configuration with a given clock.
  static func configuration(_ clock: ManualClock) -> ClientConfiguration {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.timers = clock
    return configuration
  }

  /// The target file.
  var file: URL { place("film.bin") }
  /// The part file of the target.
  var part: URL { place("film.bin.part") }
  /// The record of the part file.
  var record: URL { place("film.bin.part.meta") }

  /// A path in the folder.
  func place(_ name: String) -> URL { folder.appending(path: name, directoryHint: .notDirectory) }

  /// The sorted names in the folder.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

  /// The length of the part file.
  var partBytes: Int {
    let values = try? URL(filePath: file.path + ".part").resourceValues(forKeys: [.fileSizeKey])
    return values?.fileSize ?? 0
  }

  /// The number of bytes that the record guarantees.
  var keptBytes: Int { get throws { Int(try InterruptedDownload.all(in: folder).first?.bytes ?? 0) } }

  /// The `Range` fields of the requests that reached the file.
  var ranges: [String?] { server.requests.filter { $0.number != nil }.map(\.range) }

  /// Changes the server's behaviour from the next request on.
  func answer(_ plan: @escaping @Sendable (Int, inout RangeBehaviour) -> Void = { _, _ in }) {
    server.answer { [resource] number in
      var behaviour = RangeBehaviour(resource)
      plan(number, &behaviour)
      return behaviour
    }
  }

  /// A request for the file.
  func request(_ change: (inout Download) -> Void = { _ in }) -> FileDownload {
    var download = Download.to(file)
    change(&download)
    return FileDownload(server.url, download)
  }

  func send(
    options: CallOptions = CallOptions(), _ change: (inout Download) -> Void = { _ in }
  ) async -> Outcome<DownloadedFile> {
    await client.outcome(of: request(change), options: options)
  }

  /// Downloads the first million bytes and stops there.
  func begin(_ change: @escaping @Sendable (inout RangeBehaviour) -> Void = { _ in }) async {
    answer { _, behaviour in
      change(&behaviour)
      behaviour.fault = .cut(after: 1_000_000)
    }
    _ = await send { $0.takeUps = 0 }
    answer()
  }

  /// Whether the file equals the resource, byte for byte.
  func isRight(_ other: RangeResource? = nil) -> Bool {
    let resource = other ?? resource
    return (try? Data(contentsOf: file)) == resource.bytes(in: 0..<resource.size)
  }

  /// The checksum of the resource.
  func checksum() throws -> Checksum {
    let hash = try DigestAlgorithm.sha256.makeHash()
    resource.bytes(in: 0..<resource.size).withUnsafeBytes { hash.update($0) }
    return try Checksum.sha256(hash.finish())
  }

  /// Writes an old file at the target.
  func putOld() throws { try Self.old.write(to: file) }

  /// Whether the old file is unchanged.
  var isOld: Bool { (try? Data(contentsOf: file)) == Self.old }

  private static let old = Data("the old file\n".utf8)

  /// The permissions of a file.
  func mode(of place: URL) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: place.path))?[.posixPermissions] as? Int
  }
}
