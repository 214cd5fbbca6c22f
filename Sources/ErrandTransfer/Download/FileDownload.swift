public import ErrandCore
public import Foundation

/// A request that downloads one URL into a file: for what needs no type of its own.
///
/// ```swift
/// let file = try await client.send(FileDownload("https://example.com/big.iso", .into(downloads)))
/// ```
public struct FileDownload: APIRequest {
  /// The file.
  public typealias Response = DownloadedFile

  /// A path below the client's base URL, or an absolute URL.
  public var path: Path
  /// Where the file goes, and how careful the download is.
  public var download: Download?
  /// What is said about header fields.
  public var headers = RequestHeaders()
  /// The credential; the client's where nothing is said.
  public var credential = RequestCredential.inherited

  /// Makes a request.
  /// - Parameters:
  ///   - url: A path below the client's base URL, or an absolute URL.
  ///   - download: Where the file goes, and how careful the download is.
  public init(_ url: String, _ download: Download) {
    path = RequestPath(stringLiteral: url)
    self.download = download
  }
}
