public import ErrandCore
import ErrandJSON
public import Foundation

/// An HTTP archive (HAR 1.2) as values: recorded exchanges of a client, a browser or a proxy.
///
/// ```swift
/// let archive = try HTTPArchive(contentsOf: URL(filePath: "calls.har"))
/// for entry in archive.entries { print(entry.request.url, entry.response.status ?? 0) }
/// ```
///
/// The members that HAR 1.2 requires must exist and have the right type, except those that no property of this type
/// shows, such as the cookies. Other members are ignored, so archives of browsers are readable. An archive contains what
/// its writer recorded: ``masked`` hides the secrets.
public struct HTTPArchive: Sendable, Hashable {
  /// The largest archive that is read, in bytes: 256 MiB.
  public static let largestSize = 256 << 20
  /// The largest number of entries that are read.
  public static let mostEntries = 100_000

  /// The name of the program that wrote the archive.
  public var creator: String
  /// The version of that program, or of the format of its own members.
  public var creatorVersion: String
  /// The exchanges, in the order of the archive.
  public var entries: [Entry]
  /// The number of lines of a flight file that could not be read: lines that were cut off when a process was killed or
  /// the disk was full. Zero for other archives.
  public var unreadableLines = 0
  /// The number of older entries of a flight file that were left out, because it has more than ``mostEntries``. Zero for
  /// other archives.
  public var omittedEntries = 0

  /// Creates an archive from values.
  public init(creator: String = "Errand", creatorVersion: String = "1", entries: [Entry] = []) {
    (self.creator, self.creatorVersion, self.entries) = (creator, creatorVersion, entries)
  }

  /// Parses an archive in UTF-8, with or without a byte order mark.
  /// - Throws: ``HTTPArchiveError``, which names the first member that is wrong.
  public init(parsing data: Data) throws(HTTPArchiveError) {
    guard data.count <= Self.largestSize else { throw .tooLarge(data.count) }
    let root: JSONValue
    do throws(JSONError) {
      root = try JSONValue(parsing: data)
    } catch {
      throw HTTPArchiveError(.notJSON, "\(error) Export the archive again as HAR 1.2.")
    }
    self = try ArchiveMember(root).archive()
  }

  /// Reads an archive or a flight file; the content decides which of them it is. A flight file is read with its older
  /// part, see ``init(flightFile:)``.
  /// - Throws: ``HTTPArchiveError``.
  public init(contentsOf url: URL) throws(HTTPArchiveError) {
    let data: Data
    do throws(HTTPArchiveError) {
      data = try ArchiveFile.read(url)
    } catch {
      // A flight file has only its older part for a moment after it was renamed.
      guard error.code == .unreadable, let archive = try? HTTPArchive(flightFile: url) else { throw error }
      self = archive
      return
    }
    let isFlightFile = FlightLines.isFlightFile(data) || data.isEmpty && ArchiveFile.hasOlderPart(url)
    self = isFlightFile ? try HTTPArchive(flightFile: url) : try HTTPArchive(parsing: data)
  }

  /// The archive as HAR 1.2 in UTF-8, indented.
  public func serialized() -> Data {
    HARMembers.archive(creator: creator, version: creatorVersion, entries.map(\.json))
  }
}

extension HTTPArchive {
  /// One exchange of an archive.
  public struct Entry: Sendable, Hashable {
    /// The time on the wall clock at which the request was sent.
    public var startedAt: Date
    /// The duration of the exchange.
    public var time: Duration
    /// The request.
    public var request: Request
    /// The response.
    public var response: Response
    /// The phases of the exchange.
    public var timings: Timings
    /// The IP address of the server; nil if it is unknown.
    public var serverAddress: String?
    /// Whether the response came from a cache.
    public var isFromCache: Bool
    /// What Errand recorded in addition (the member `_errand`); nil in archives of other programs.
    public var details: Details?
  }

  /// The request of an exchange.
  public struct Request: Sendable, Hashable {
    /// The method; empty if the request could not be built.
    public var method: String
    /// The URL; empty if the request could not be built.
    public var url: String
    /// The version of HTTP, such as `HTTP/1.1` or `h2`, as the writer names it.
    public var version: String
    /// The header fields.
    public var headers: [HTTPField]
    /// The text of the body; nil if the request had none or it was not recorded.
    public var body: String?
    /// The length of the body in bytes; nil if it is unknown.
    public var bodySize: Int?
  }

  /// The response of an exchange.
  public struct Response: Sendable, Hashable {
    /// The status; nil if no response arrived.
    public var status: Int?
    /// The reason phrase.
    public var reason: String
    /// The version of HTTP, as the writer names it.
    public var version: String
    /// The header fields.
    public var headers: [HTTPField]
    /// The text of the body; nil if it was not recorded.
    public var body: String?
    /// Whether ``body`` is the body in Base64, as for images.
    public var isBase64: Bool
    /// The length of the body in bytes; nil if it is unknown.
    public var bodySize: Int?
    /// The media type of the body.
    public var mediaType: String
    /// The description of the failure (the member `_error` of Errand and Chrome); nil if there was none.
    public var failure: String?
  }

  /// The phases of an exchange. A phase that did not happen or was not measured is nil.
  public struct Timings: Sendable, Hashable {
    /// The time until the exchange could begin, for example until a connection was free.
    public var blocked: Duration?
    /// The look-up of the host name.
    public var dns: Duration?
    /// The connection, including TLS.
    public var connect: Duration?
    /// The TLS handshake, which is a part of ``connect``.
    public var tls: Duration?
    /// The sending of the request.
    public var send: Duration?
    /// The wait for the first byte of the response.
    public var wait: Duration?
    /// The receiving of the response.
    public var receive: Duration?
  }

  /// The member `_errand` of an entry.
  public struct Details: Sendable, Hashable {
    /// The number of the call, which is unique in a process.
    public var call: UInt64
    /// Identifies the process, or the part of its life, that wrote the call to a flight file; nil in other archives.
    public var run: String?
    /// The name of the request's type.
    public var requestType: String
    /// The number of the exchange in its call; 0 if the call sent no request.
    public var attempt: Int
    /// The tag of the call.
    public var tag: String?
    /// The end of the call; nil in all entries of the call except the last.
    public var end: End?
  }

  /// The end of a call of Errand.
  public struct End: Sendable, Hashable {
    /// The time on the wall clock at which the call started.
    public var startedAt: Date
    /// The time from the start of the call until its result was known.
    public var duration: Duration
    /// The status of the response; nil if there was none.
    public var status: Int?
    /// The source of the response, such as `network`; nil if the call failed.
    public var origin: String?
    /// The error; nil if the call succeeded.
    public var failure: Failure?
    /// The decisions of the call, in the order of their times.
    public var decisions: [Decision]
  }

  /// The error of a call.
  public struct Failure: Sendable, Hashable {
    /// The stage of the error, such as `transport`.
    public var stage: String
    /// The code of the error, such as `idleTimeout`.
    public var code: String
    /// The message of the error.
    public var message: String
  }

  /// A decision of a call.
  public struct Decision: Sendable, Hashable {
    /// The decision as a sentence.
    public var text: String
    /// The kind of the decision, such as `retried`; nil if it is unknown.
    public var kind: String?
    /// The time from the start of the call until the decision; nil if it is unknown.
    public var offset: Duration?
  }
}

/// The reason why an HTTP archive or a flight file could not be read.
///
/// The description names the wrong member by its path, such as `log.entries[3].request.url`, and the cure. It contains
/// no values of the archive.
public struct HTTPArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of the error.
  public enum Code: String, Sendable, Hashable {
    /// The file does not exist or cannot be read.
    case unreadable
    /// The text is not JSON.
    case notJSON
    /// A required member is missing.
    case missing
    /// A member has another type than HAR 1.2 requires.
    case wrongType
    /// A member has the right type but an impossible value.
    case wrongValue
    /// The archive has more bytes, entries or header fields than are read.
    case tooLarge
  }

  /// The kind of the error.
  public let code: Code
  /// The path of the wrong member; nil if the error is not about a member.
  public let path: String?
  /// The cause and the cure.
  public let description: String

  init(_ code: Code, at path: String? = nil, _ description: String) {
    (self.code, self.path, self.description) = (code, path, description)
  }

  static func tooLarge(_ bytes: Int) -> HTTPArchiveError {
    HTTPArchiveError(
      .tooLarge,
      "The archive has \(bytes) bytes, but at most \(HTTPArchive.largestSize) are read. Export fewer exchanges.")
  }
}
