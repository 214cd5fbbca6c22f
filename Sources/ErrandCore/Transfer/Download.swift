public import Foundation

/// The file to which a response is written, and the checks of the download.
///
/// ```swift
/// struct GetFilm: APIRequest {
///   let id: Int
///   let file: URL
///   var path: Path { "/films/\(id).mp4" }
///   var download: Download? { .to(file) }
///   typealias Response = DownloadedFile
/// }
/// ```
///
/// The bytes are collected next to the target, in `<name>.part`, with a record of them in `<name>.part.meta`. Only the
/// user may access these two files, and both are locked while the download runs. A file at the target stays until the
/// new file is complete and checked, and is then replaced in one step. A download that was interrupted for any reason
/// continues where it stopped if the server still has the same version; two versions are never mixed.
public struct Download: Sendable {
  /// The destination of the file.
  package enum Place: Sendable {
    case file(URL)
    case folder(URL, Naming)
  }

  /// The source of the name of a file in a folder.
  public enum Naming: Sendable, Hashable {
    /// The last component of the URL's path, made safe.
    case fromURL
    /// `Content-Disposition` (RFC 6266) if the server sends a usable name, made safe; otherwise the URL, or `download`
    /// if the URL has no name.
    case fromServer
  }

  /// What happens if another download has the same target, in this process or in another process.
  public enum BusyRule: Sendable, Hashable {
    /// The call fails immediately with the code ``APIError/Code/busy``.
    case fail
    /// The call waits until the other download ends, checking repeatedly, and then determines again what is left to do.
    case wait
  }

  /// The destination of the file.
  package let place: Place
  /// Whether an existing file is replaced. With false, the call fails if the file exists. This is checked before the
  /// request is sent, or as soon as the server has named the file, and again at the end of the download.
  public var replaces = true
  /// Identifies the file if its URL differs each time, for example because the URL is a signed link. A partial file is
  /// continued if it was started with the same value. With nil the URL identifies the file.
  public var resource: String?
  /// Whether an existing partial file is continued.
  public var resumes = true
  /// How often one call resumes a body that ends too early. Each time, bytes must have arrived since the last time, and
  /// the host's budget for retries must allow another attempt. Resuming does not extend the deadline of the call.
  public var takeUps = 3
  /// The checksum that the whole file must have. A mismatch deletes the partial file.
  public var checksum: Checksum?
  /// The algorithms by which `Repr-Digest` and `Content-Digest` (RFC 9530) are checked if the server sends them; empty
  /// without the product `ErrandChecksum`, whose list is `.standard`.
  public var digests: [DigestAlgorithm] = []
  /// What happens if another download has the same target.
  public var whenBusy = BusyRule.fail
  /// How many ranges are downloaded in parallel at most. Requires ``resumes`` and a server that sends a strong
  /// validator and a length.
  public var parallel = 1
  /// The most bytes per second of this download, all its ranges together; nil for no limit. Several downloads share a
  /// limit by ``bandwidth``. If both limits are set, both apply.
  public var bytesPerSecond: Int64?
  /// The most bytes that the file may have; nil for no limit. A longer file ends the call with the code `tooLarge` and
  /// removes the partial file: before a byte is written if the length is announced, otherwise as soon as the limit is
  /// exceeded. A background download ignores this limit, because the system receives its bytes.
  public var maximumBytes: Int64?
  /// A speed limit that this download shares with all downloads that have the same instance; nil for none.
  public var bandwidth: Bandwidth?
  /// The permissions of the file, as for `chmod`. Only its owner may access the partial file, whatever this value is.
  public var permissions: UInt16 = 0o644
  /// Returns another URL for the same file if the server responds with 401, 403, 404 or 410, such as for a signed link
  /// that has expired. It is called at most once per call. The partial file is continued although the URL differs.
  public var freshURL: (@Sendable (HTTPResponse) async throws -> String)?

  private init(_ place: Place) { self.place = place }

  /// A download to a file.
  public static func to(_ file: URL) -> Download { Download(.file(file)) }

  /// A download into an existing folder.
  public static func into(_ folder: URL, named naming: Naming = .fromURL) -> Download {
    Download(.folder(folder, naming))
  }
}
