import ErrandSupport
public import Foundation

/// The body of a request as it is sent: bytes in memory, a file, or a source that provides the bytes during sending.
///
/// A body is a single reference, so that requests are cheap to copy. Two bodies are equal if they are in memory with
/// the same bytes and the same ``expectsContinue``, or if they are copies of one body.
public struct HTTPBody: Sendable {
  /// The place from which the bytes of a body come. It is used in descriptions, for example in a command line for curl.
  package enum Origin: Sendable {
    case memory(Data)
    case file(path: String)
    case other
  }

  package typealias Opener = @Sendable (BodyFlow) throws -> any BodySource

  private final class Storage: Sendable {
    let origin: Origin
    let length: Int64?
    /// Records whether a body that can be read only once has been read; nil for a body that can be read again.
    let readState: ReadState?
    let expectsContinue: Bool
    let opener: Opener?

    init(
      _ origin: Origin, _ length: Int64?, _ readState: ReadState?, expectsContinue: Bool = false, _ opener: Opener?
    ) {
      self.origin = origin
      self.length = length
      self.readState = readState
      self.expectsContinue = expectsContinue
      self.opener = opener
    }
  }

  /// Records whether reading of the body has begun. All copies of a body share one object.
  private final class ReadState: Sendable {
    private let hasBegun = Locked(false)

    var isUsedUp: Bool { hasBegun.withLock { $0 } }

    /// Records that reading has begun. Returns false if reading had begun before.
    func begin() -> Bool { hasBegun.setOnce() }
  }

  private let storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// Makes a body from bytes in memory.
  public init(_ data: Data) { storage = Storage(.memory(data), Int64(data.count), nil, nil) }

  /// Makes a body from a source that is opened when the transport needs the first bytes.
  ///
  /// - Parameters:
  ///   - length: The length in bytes; nil if it is unknown. A request with a negative length is refused before it is
  ///     sent. A source that provides more or fewer bytes ends the exchange with
  ///     ``TransportFailure/Kind/bodyChanged``. A source that returns ``BodyRead/later`` directly after the last
  ///     announced byte is not read again, so bytes that it would provide later are not noticed.
  ///   - isReplayable: Whether `open` may be called several times. If so, all sources that `open` makes must provide
  ///     the same bytes. If not, make the body once and store it: the body records that it was read, which a new body
  ///     with the same source does not know.
  ///   - open: Makes a source, on the transport's thread. When the source has bytes again after ``BodyRead/later``, it
  ///     resumes the body with the argument of `open`.
  public static func stream(
    length: Int64? = nil, isReplayable: Bool = false, _ open: @escaping @Sendable (BodyFlow) throws -> any BodySource
  ) -> HTTPBody {
    made(.other, length: length, isReplayable: isReplayable, open)
  }

  package static func made(_ origin: Origin, length: Int64?, isReplayable: Bool, _ open: @escaping Opener) -> HTTPBody {
    HTTPBody(Storage(origin, length, isReplayable ? nil : ReadState(), open))
  }

  // MARK: - Properties

  /// The length in bytes; nil if the length is unknown until the body ends.
  public var length: Int64? { storage.length }

  /// The bytes of a body in memory; nil for a body that is read while it is sent.
  public var data: Data? {
    if case .memory(let data) = storage.origin { data } else { nil }
  }

  /// The path of the file if the body is a whole file; nil for any other body, including a part of a file.
  public var filePath: String? {
    if case .file(let path) = storage.origin { path } else { nil }
  }

  /// Whether the body can be sent more than once, for example after a redirect or on a new connection.
  public var isReplayable: Bool { storage.readState == nil }

  /// Whether the body can be read only once and has been read.
  package var isUsedUp: Bool { storage.readState?.isUsedUp == true }

  /// Whether both bodies can be read only once, and the reading of one of them uses up the other, too.
  package func sharesReading(with other: HTTPBody) -> Bool {
    guard let state = storage.readState else { return false }
    return state === other.storage.readState
  }

  /// Whether the request waits for an interim response (100) before it sends the body. A body of length 0 never waits,
  /// because a request without content must not contain the expectation (RFC 9110 section 10.1.1).
  public var expectsContinue: Bool { storage.expectsContinue && storage.length != 0 }

  /// Returns the body with `Expect: 100-continue`: the request waits at most one second for the interim response before
  /// it sends the body. If the server rejects the expectation with 417, the request is sent again without the
  /// expectation. Over HTTP/2 the request does not wait.
  public func expectingContinue() -> HTTPBody {
    HTTPBody(
      Storage(storage.origin, storage.length, storage.readState, expectsContinue: true, storage.opener))
  }

  package var origin: Origin { storage.origin }

  /// The length as English text, such as `12 bytes` or `a stream of unknown length`.
  package var measure: String { length.map { "\($0) bytes" } ?? "a stream of unknown length" }

  // MARK: - Reading

  /// Opens the body. Transports call this method when they need the first bytes. A request whose body can be read only
  /// once may be sent again as long as its body has not been opened.
  ///
  /// The returned source enforces the announced length. It throws ``TransportFailure``, or ``BodySourceFailure`` with
  /// the error of the underlying source.
  ///
  /// - Parameter flow: Resumes the body after ``BodyRead/later``.
  public func open(_ flow: BodyFlow) throws -> any BodySource {
    if let data { return DataBodySource(data) }
    guard storage.readState?.begin() != false, let opener = storage.opener else { throw Self.usedUp }
    let source = try BodySourceFailure.naming { try opener(flow) }
    return CheckedBodySource(source, length: length)
  }

  package static let usedUpClause =
    "the source can be read only once and has been read; use data or a file, or make the stream with "
    + "`isReplayable: true`"

  /// The reason why a request must not be built with this body, as a clause. Nil if the body can be sent.
  package var obstacle: String? {
    if isUsedUp { return Self.usedUpClause }
    guard let length, length < 0 else { return nil }
    return "its length is \(length); give its number of bytes, or nil if it is unknown"
  }

  private static let usedUp = TransportFailure(.bodySource, "The body cannot be sent: \(usedUpClause).")
}

extension HTTPBody: Equatable {
  /// Whether both bodies are in memory with the same bytes and the same ``expectsContinue``, or are copies of one body.
  public static func == (left: HTTPBody, right: HTTPBody) -> Bool {
    if left.storage === right.storage { return true }
    guard let mine = left.data, let theirs = right.data else { return false }
    return mine == theirs && left.expectsContinue == right.expectsContinue
  }
}

extension HTTPRequest {
  /// Whether the request has no body or a body in memory, so that two requests can be compared byte by byte. A call
  /// with any other body shares neither an exchange nor a stored response with another call.
  package var isComparable: Bool { body == nil || body?.data != nil }
}

extension HTTPBody: Masked {
  /// The length of the body, as in `12 bytes`. The content is never shown.
  public var description: String { measure }
}

final class DataBodySource: BodySource {
  private var rest: Data

  init(_ data: Data) { rest = data }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    guard !rest.isEmpty else { return .end }
    let count = min(buffer.count, rest.count)
    rest.copyBytes(to: buffer, count: count)
    rest = rest.dropFirst(count)
    return .bytes(count)
  }
}

/// A content coding that is applied to a body while it is sent, such as gzip (RFC 9110 section 8.4.1).
package struct BodyCoding: Sendable {
  /// The name of the coding in `Content-Encoding`.
  package let name: String
  /// Wraps a source of the plain bytes in a new source, which provides the encoded bytes.
  package let wrap: @Sendable (any BodySource) throws -> any BodySource

  package init(name: String, wrap: @escaping @Sendable (any BodySource) throws -> any BodySource) {
    self.name = name
    self.wrap = wrap
  }

  /// A body in memory with at most this many bytes is encoded when the request is built. Its encoded length is then
  /// known before the request is sent.
  static let earlyEncodingLimit = 16 << 10

  package func body(_ plain: HTTPBody) throws -> HTTPBody {
    let coded = HTTPBody.made(.other, length: nil, isReplayable: plain.isReplayable) { [wrap] flow in
      try wrap(try plain.open(flow))
    }
    let isSmall = plain.data.map { $0.count <= Self.earlyEncodingLimit } ?? false
    let made = isSmall ? HTTPBody(try coded.collected()) : coded
    return plain.expectsContinue ? made.expectingContinue() : made
  }
}

extension HTTPBody {
  /// Reads the body to its end and returns all bytes. The source must always have bytes available: a read that returns
  /// ``BodyRead/later`` ends the reading.
  package func collected() throws -> Data {
    let source = try open(BodyFlow {})
    var whole = Data()
    try withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
      while case .bytes(let count) = try source.read(into: buffer) { whole.append(contentsOf: buffer[..<count]) }
    }
    return whole
  }
}
