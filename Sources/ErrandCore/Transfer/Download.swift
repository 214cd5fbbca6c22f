public import Foundation

/// Where a request's answer goes as a file, and how careful the download is.
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
/// The bytes are gathered beside the target, in `<name>.part`, with a record of them in `<name>.part.meta`. Both belong
/// to the user alone and are locked while the download runs. What is at the target stays until the new file is whole and
/// checked, and is then replaced in one step. A download that was interrupted, by whatever it was, goes on where it
/// stopped if the server still has the same version; two versions are never mixed.
public struct Download: Sendable {
  /// Where the file goes.
  package enum Place: Sendable {
    case file(URL)
    case folder(URL, Naming)
  }

  /// Where the name of a file in a folder comes from.
  public enum Naming: Sendable, Hashable {
    /// From the last component of the URL's path, made safe.
    case fromURL
    /// From `Content-Disposition` (RFC 6266) where the server sends a usable name, made safe; else from the URL, or
    /// `download` where that has none.
    case fromServer
  }

  /// What happens where another download has the same target, in this process or another one.
  public enum BusyRule: Sendable, Hashable {
    /// The call fails at once, with the code ``APIError/Code/busy``.
    case fail
    /// The call waits for its end, looking again and again, and then decides anew what is left to do.
    case wait
  }

  /// Where the file goes.
  package let place: Place
  /// Whether a file that is there is replaced. Where not, the call fails before it asks the server, or once that has
  /// named the file, and again at the end if the file has come meanwhile.
  public var replaces = true
  /// What the file is, where its URL is another one each time, such as a link that is signed anew: a part is gone on
  /// with where this is the same. Nil for the URL.
  public var resource: String?
  /// Whether a part that is there is gone on with.
  public var resumes = true
  /// How often a body that breaks off is taken up again within one call, each time only if bytes have come since
  /// and the budget of the host for new attempts allows it. The deadline of the call goes on.
  public var takeUps = 3
  /// What the whole must hash to. A mismatch deletes the part.
  public var checksum: Checksum?
  /// The algorithms by which `Repr-Digest` and `Content-Digest` (RFC 9530) are checked where the server sends them; none
  /// without the product `ErrandChecksum`, whose list is `.standard`.
  public var digests: [DigestAlgorithm] = []
  /// What happens where another download has the same target.
  public var whenBusy = BusyRule.fail
  /// How many ranges are fetched side by side at most: only where the server has a strong validator and a length, and
  /// ``resumes`` holds.
  public var parallel = 1
  /// The most bytes in a second of this download, all its ranges together; nil for no limit. Several downloads share a
  /// limit by ``bandwidth``; where both are there, both hold.
  public var bytesPerSecond: Int64?
  /// The most bytes that the file may have; nil for no limit. More end the call with the code `tooLarge` and remove the
  /// part: before a byte is written where the length is announced, else as soon as they come. A background download,
  /// whose bytes the system takes, does not look at it.
  public var maximumBytes: Int64?
  /// A limit of speed that this download shares with all that have the same one; nil for none.
  public var bandwidth: Bandwidth?
  /// Who may read and write the file, as `chmod` has it. The part is its owner's alone whatever this says.
  public var permissions: UInt16 = 0o644
  /// Gives another URL for the same file where the server refuses with 401, 403, 404 or 410, such as for a signed link
  /// that has expired. Asked once in a call. The part is gone on with though the URL is another one.
  public var freshURL: (@Sendable (HTTPResponse) async throws -> String)?

  private init(_ place: Place) { self.place = place }

  /// A download to a file.
  public static func to(_ file: URL) -> Download { Download(.file(file)) }

  /// A download into a folder that is there.
  public static func into(_ folder: URL, named naming: Naming = .fromURL) -> Download {
    Download(.folder(folder, naming))
  }
}
