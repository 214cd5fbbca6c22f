import Errand
import ErrandBackground
import ErrandChecksum
import ErrandTesting
import ErrandTransfer
import Foundation
import TestSupport

/// A temporary folder, a scripted session in place of the system, and a client that must send nothing itself.
final class BackgroundFixture: Sendable {
  typealias Ending = BackgroundDownload.Ending
  typealias UploadEnding = BackgroundUpload.Ending

  let folder = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .isDirectory)
  let session = ScriptedBackgroundSession()
  let transport = ScriptedTransport()
  let client: APIClient
  private let endings: AsyncStream<Ending>
  private let teller: AsyncStream<Ending>.Continuation
  private let uploadEndings: AsyncStream<UploadEnding>
  private let uploadTeller: AsyncStream<UploadEnding>.Continuation

  init(_ change: (inout ClientConfiguration) -> Void = { _ in }) throws {
    var configuration = ClientConfiguration(baseURL: "https://h.example")
    configuration.transport = .own(transport)
    change(&configuration)
    client = APIClient(configuration)
    (endings, teller) = AsyncStream.makeStream()
    (uploadEndings, uploadTeller) = AsyncStream.makeStream()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    session.endProcess()
    discardFolder(folder)
  }

  /// The folder in which the library records running transfers.
  var desk: URL { folder.appending(path: "desk", directoryHint: .isDirectory) }

  /// A path in the folder.
  func place(_ name: String) -> URL { folder.appending(path: name, directoryHint: .notDirectory) }

  /// Launches the app again.
  func launch(
    home: String = "/nowhere", onEnd: (@Sendable (Ending) async -> Void)? = nil
  ) -> BackgroundDownloads {
    session.endProcess()
    return BackgroundDownloads(
      client, over: session, in: desk, checkedBy: .standard, files: SystemFiles(), home: home,
      onEnd: onEnd ?? { [teller] ending in teller.yield(ending) })
  }

  /// Launches the app again, with uploads instead of downloads.
  func launchUploads(
    home: String = "/nowhere", files: any TransferFiles = SystemFiles(),
    onEnd: (@Sendable (UploadEnding) async -> Void)? = nil
  ) -> BackgroundUploads {
    session.endProcess()
    return BackgroundUploads(
      client, over: session, in: desk, files: files, home: home,
      onEnd: onEnd ?? { [uploadTeller] ending in uploadTeller.yield(ending) })
  }

  /// The next delivered ending of an upload.
  func nextUpload() async -> UploadEnding? {
    for await ending in uploadEndings { return ending }
    return nil
  }

  /// The next delivered ending of a download.
  func next() async -> Ending? {
    for await ending in endings { return ending }
    return nil
  }

  /// A request for a file.
  func request(
    _ path: String = "/film", _ name: String = "film.bin", _ change: (inout Download) throws -> Void = { _ in }
  ) rethrows -> FileDownload {
    var download = Download.to(place(name))
    try change(&download)
    return FileDownload(path, download)
  }

  /// Writes a file into the folder.
  func put(_ text: String, _ name: String) throws -> URL {
    let file = place(name)
    try Data(text.utf8).write(to: file)
    return file
  }

  /// The content of a file in the folder.
  func text(_ name: String) -> String? {
    (try? Data(contentsOf: place(name))).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The sorted names in the library's folder.
  var desked: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: desk.path)) ?? []).sorted() }

  /// The permissions of a file in the folder, or of the library's folder.
  func mode(_ name: String = "desk") -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: place(name).path))?[.posixPermissions] as? Int
  }

  /// The content of all files, as one text.
  var written: String {
    desked.compactMap { try? Data(contentsOf: desk.appending(path: $0)) }
      .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
  }
}
