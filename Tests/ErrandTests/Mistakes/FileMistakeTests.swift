import Errand
import ErrandTesting
import Foundation
import Testing

/// A file, a folder or the cache is not what the request needs.
struct FileMistakeTests {
  /// A new folder with a file.
  private func withFolder(_ body: (_ folder: URL, _ file: URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-mistakes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "film.mp4")
    try Data("old".utf8).write(to: file)
    try await body(folder, file)
  }

  @Test func `The folder of a download does not exist`() async throws {
    try await withFolder { folder, _ in
      // The mistake:
      let request = FileDownload("/7.mp4", .into(folder.appending(path: "Films")))
      // What Errand says:
      await MistakeClient().says(
        .file, to: request,
        """
        The folder “Films” cannot be used: it does not exist; create it before the download.
        """)
    }
  }

  @Test func `A download goes into a file`() async throws {
    try await withFolder { _, file in
      // The mistake:
      let request = FileDownload("/7.mp4", .into(file))
      // What Errand says:
      await MistakeClient().says(
        .file, to: request,
        """
        The folder “film.mp4” cannot be used: it is a file; choose a folder, or name the file of the download with \
        `Download.to`.
        """)
    }
  }

  @Test func `A download replaces a folder`() async throws {
    try await withFolder { folder, _ in
      let films = folder.appending(path: "Films")
      try FileManager.default.createDirectory(at: films, withIntermediateDirectories: true)
      // The mistake:
      let request = FileDownload("/7.mp4", .to(films))
      // What Errand says:
      await MistakeClient().says(
        .fileExists, to: request,
        """
        The file “Films” could not be opened: the target is a folder; to download into the folder, use \
        `Download.into`.
        """)
    }
  }

  @Test func `The URL of a download has no file name`() async throws {
    try await withFolder { folder, _ in
      // The mistake:
      let request = FileDownload("/", .into(folder))
      // What Errand says:
      await MistakeClient().says(
        .file, to: request,
        """
        The URL https://api.example.com/ does not end in a file name; name the file with `Download.to`.
        """)
    }
  }

  @Test func `The file of an upload does not exist`() async {
    // The mistake:
    struct SendPhoto: APIRequest {
      let path: Path = "/photos/7"
      let method: HTTPMethod = .put
      let photo: URL
      var body: RequestBody? { .file(photo) }
    }
    let request = SendPhoto(photo: URL(filePath: "/Photos/7.jpeg"))
    // What Errand says:
    await MistakeClient().says(
      .invalidBody, to: request, "The file /Photos/7.jpeg cannot be read: No such file or directory.")
  }

  @Test func `Nothing was stored before the cache is read alone`() async {
    // The mistake:
    struct GetWeather: APIRequest {
      let path: Path = "/weather"
      let cache: CachePolicy = .lifetime(.seconds(180))
    }
    // What Errand says:
    await MistakeClient().says(
      .cacheMiss, to: GetWeather(), options: .cache(.cacheOnly),
      """
      Nothing is stored for this request; send the request once before you read only from the cache.
      """)
  }

  @Test func `The cache is read for a request that is never stored`() async {
    // The mistake:
    struct GetNews: APIRequest { let path: Path = "/news" }
    // What Errand says:
    await MistakeClient().says(
      .cacheMiss, to: GetNews(), options: .cache(.cacheOnly),
      """
      This request does not use the cache; declare a cache policy, and do not start the call with caching turned \
      off.
      """)
  }
}
