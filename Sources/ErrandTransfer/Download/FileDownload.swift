public import ErrandCore
public import Foundation

/// A request that downloads one URL into a file, for downloads that need no request type.
///
/// ```swift
/// let file = try await client.send(FileDownload("https://example.com/big.iso", .into(downloads)))
/// ```
public struct FileDownload: APIRequest {
  /// The downloaded file.
  public typealias Response = DownloadedFile

  /// A path below the client's base URL, or an absolute URL.
  public var path: Path
  /// The target and the options of the download.
  public var download: Download?
  /// The header fields.
  public var headers = RequestHeaders()
  /// The credential; by default the client's.
  public var credential = RequestCredential.inherited

  /// Makes a request.
  /// - Parameters:
  ///   - url: A path below the client's base URL, or an absolute URL.
  ///   - download: The target and the options of the download.
  public init(_ url: String, _ download: Download) {
    path = RequestPath(stringLiteral: url)
    self.download = download
  }
}
