public import ErrandCore

/// A request that downloads one URL into a file. Use it for downloads that need no separate request type.
///
/// ```swift
/// let file = try await client.send(FileDownload("https://example.com/big.iso", .into(downloads)))
/// ```
public struct FileDownload: APIRequest {
  /// The type of the result: the downloaded file.
  public typealias Response = DownloadedFile

  /// A path below the client's base URL, or an absolute URL.
  public var path: Path
  /// The target and the options of the download.
  public var download: Download?
  /// The header fields of the request.
  public var headers = RequestHeaders()
  /// The credential of the request. By default, the client's credential is used.
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
