package import ErrandSupport
public import Foundation

/// The file to which the body of a response is written, and the rules of the download.
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
/// The received bytes are stored next to the destination, in the partial file `<name>.part`. The file
/// `<name>.part.meta` describes the partial file. With ``Naming/fromServer``, these names are provisional, and start
/// with a hash of the URL or of ``resource``. Only the user may access these two files, and the partial file is locked
/// while the download runs. An existing file at the destination stays until the new file is complete and checked. It is
/// then replaced in one step, if ``replaces`` is true. A download that was interrupted for any reason continues from
/// its last byte if the server still has the same version of the file. Bytes of two versions are never mixed.
public struct Download: Sendable {
  /// The destination of the file.
  package enum Place: Sendable {
    case file(URL)
    case folder(URL, Naming)
  }

  /// Determines the file name of a download into a folder.
  public enum Naming: Sendable, Hashable {
    /// The file name is the last component of the URL's path, changed so that it is safe.
    case fromURL
    /// The file name is the name in `Content-Disposition` (RFC 6266), if the server sends a usable name. Otherwise it
    /// is the last component of the URL's path, or `download` if the URL has no name. The name is changed so that it is
    /// safe, and an existing file is not replaced by default (``Download/replaces``).
    case fromServer
  }

  /// What happens if another download has the same destination, in this process or in another process.
  public enum BusyRule: Sendable, Hashable {
    /// The call fails immediately with the code ``APIError/Code/busy``.
    case fail
    /// The call waits until the other download ends, and checks repeatedly whether it has ended. Then the call
    /// determines again which bytes are missing.
    case wait
  }

  /// The destination of the file.
  package let place: Place
  /// Whether an existing file is replaced. The default is true, but false for ``Naming/fromServer``: a server must not
  /// choose which file of the folder is lost. If the value is false, the call fails with the code
  /// ``APIError/Code/fileExists`` if the file exists. The existence is checked before the request is sent, or as soon
  /// as the server has named the file, and again at the end of the download.
  public var replaces: Bool
  /// Whether an existing file at the destination counts as the finished download. The default is false. If the value is
  /// true, the call sends no request for such a file and reports no progress, and
  /// ``DownloadedFile/alreadyExisted`` is true. So an app can add all its downloads again after a restart, and only the
  /// missing files are fetched.
  ///
  /// With a ``checksum`` the file counts only if it matches. Without one, any file counts that is not longer than
  /// ``maximumBytes``: a download gives a file its final name only when the file is complete, but the server may have a
  /// newer version. A file does not count if a partial file is next to it, because a later download is then continued.
  /// For a file that does not count, ``replaces`` applies. With ``Naming/fromServer`` no file counts, because the name
  /// is not known before the response. A background download ignores this setting.
  public var acceptsExisting = false
  /// Identifies the file if its URL differs each time, for example because the URL is a signed link. A partial file is
  /// continued if it was started with the same value. If the value is nil, the URL identifies the file.
  public var resource: String?
  /// The path whose partial file is continued, whatever the URL is. Nil if the destination or the URL determines it.
  package var continuedPart: String?
  /// Whether a partial file of an earlier call is continued.
  public var resumes = true
  /// How often one call resumes the download after a body has ended too early. The call resumes only if bytes have
  /// arrived since the last attempt, and if the host's budget for retries allows another attempt. Resuming does not
  /// extend the deadline of the call.
  public var takeUps = 3
  /// The checksum that the whole file must have. A mismatch deletes the partial file.
  public var checksum: Checksum?
  /// The algorithms by which the digests in `Repr-Digest` and `Content-Digest` (RFC 9530) are checked. If the array is
  /// empty, these fields are ignored. The product `ErrandChecksum` has the algorithms in `.standard`.
  public var digests: [DigestAlgorithm] = []
  /// What happens if another download has the same destination.
  public var whenBusy = BusyRule.fail
  /// The maximum number of byte ranges that are downloaded in parallel. Values above one require ``resumes`` and a
  /// server that sends a strong validator and a length.
  public var parallel = 1
  /// The maximum number of bytes per second of this download, with all its ranges together; nil for no limit. Several
  /// downloads can share a limit by ``bandwidth``. If both limits are set, both apply.
  public var bytesPerSecond: Int64?
  /// The maximum number of bytes of the file; nil for no limit. If the file is longer, the call fails with the code
  /// `tooLarge`, and the partial file is removed. If the server announces the length, the call fails before a byte is
  /// written, otherwise as soon as the limit is exceeded. A background download ignores this limit, because the system
  /// receives its bytes.
  public var maximumBytes: Int64?
  /// A speed limit that this download shares with all other downloads to which the same ``Bandwidth`` object is
  /// assigned; nil for none.
  public var bandwidth: Bandwidth?
  /// The permissions of the finished file, as for `chmod`. Only its owner may access the partial file, whatever this
  /// value is.
  public var permissions: UInt16 = 0o644
  /// Returns another URL for the same file. This function is called if the server responds with 401, 403, 404 or 410,
  /// for example because a signed link has expired. It is called again only if bytes of the file have arrived since, so
  /// that a call ends if the server rejects every URL. The partial file is continued although the URL differs.
  public var freshURL: (@Sendable (HTTPResponse) async throws -> String)?

  private init(_ place: Place) {
    self.place = place
    replaces = if case .folder(_, .fromServer) = place { false } else { true }
  }

  /// Makes a download to a file.
  public static func to(_ file: URL) -> Download { Download(.file(file)) }

  /// Makes a download into an existing folder. If the server names the file, an existing file is not replaced, unless
  /// ``replaces`` is set.
  public static func into(_ folder: URL, named naming: Naming = .fromURL) -> Download {
    Download(.folder(folder, naming))
  }
}

/// A downloaded file, which is complete, checked, and stored under its final name.
public struct DownloadedFile: Sendable, Hashable, Codable {
  /// The location of the file.
  public let url: URL
  /// The length of the file in bytes.
  public let bytes: Int64
  /// The number of bytes that earlier calls had received and that this call kept.
  public let keptBytes: Int64
  /// The number of bytes that this call received, including bytes that had to be discarded.
  public let fetchedBytes: Int64
  /// The algorithms of the checksums by which the file was checked, such as `sha-256`. The file matches all of these
  /// checksums.
  public let checkedBy: [String]
  /// Whether the file already existed at its destination, so that this call sent no request
  /// (``Download/acceptsExisting``).
  public let alreadyExisted: Bool

  /// Makes the description of a downloaded file.
  public init(
    url: URL, bytes: Int64, keptBytes: Int64 = 0, fetchedBytes: Int64 = 0, checkedBy: [String] = [],
    alreadyExisted: Bool = false
  ) {
    self.url = url
    self.bytes = bytes
    self.keptBytes = keptBytes
    self.fetchedBytes = fetchedBytes
    self.checkedBy = checkedBy
    self.alreadyExisted = alreadyExisted
  }
}

/// The target of one call of a download, and what identifies its request. Texts are compared by their bytes.
package struct SentDownload: Sendable, Hashable {
  package let target: ByteText
  package let method: String
  /// The URL, or the name in ``Download/resource``.
  package let url: ByteText
  /// A hash of the account and of the fields that may select the response.
  package let variant: String

  package init(target: String, method: String, url: String, variant: String) {
    (self.target, self.url) = (ByteText(target), ByteText(url))
    (self.method, self.variant) = (method, variant)
  }
}
