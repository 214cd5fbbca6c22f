import ErrandSupport
public import Foundation

/// The body of a request as it is sent: bytes in memory, a file, or a source that provides them during sending.
///
/// A body is a single reference, so that requests are cheap to copy. Two bodies are equal if both are in memory with
/// the same bytes, or if both are the same instance.
public struct HTTPBody: Sendable {
  /// Where the bytes come from. Used by descriptions, for example a command line for curl.
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
    let use: Use?
    let expectsContinue: Bool
    let opener: Opener?

    init(_ origin: Origin, _ length: Int64?, _ use: Use?, expectsContinue: Bool = false, _ opener: Opener?) {
      self.origin = origin
      self.length = length
      self.use = use
      self.expectsContinue = expectsContinue
      self.opener = opener
    }
  }

  /// Records whether reading the body has begun. All copies of the body share one record.
  private final class Use: Sendable {
    private let hasBegun = Locked(false)

    var isOver: Bool { hasBegun.withLock { $0 } }

    /// Records that reading has begun. Returns false if it had begun before.
    func begin() -> Bool {
      hasBegun.withLock { hasBegun in
        defer { hasBegun = true }
        return !hasBegun
      }
    }
  }

  private let storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// Makes a body from bytes in memory.
  public init(_ data: Data) { storage = Storage(.memory(data), Int64(data.count), nil, nil) }

  /// Makes a body from a source that is opened when the transport needs the first bytes.
  ///
  /// - Parameters:
  ///   - length: The length in bytes; nil if it is unknown. A source that provides more or fewer bytes ends the
  ///     exchange with ``TransportFailure/Kind/bodyChanged``.
  ///   - isReplayable: Whether `open` may be called several times. Each source must then provide the same bytes.
  ///   - open: Makes a source. Called on the transport's thread. The argument resumes the body after
  ///     ``BodyRead/later``.
  public static func stream(
    length: Int64? = nil, isReplayable: Bool = false, _ open: @escaping @Sendable (BodyFlow) throws -> any BodySource
  ) -> HTTPBody {
    made(.other, length: length, isReplayable: isReplayable, open)
  }

  package static func made(_ origin: Origin, length: Int64?, isReplayable: Bool, _ open: @escaping Opener) -> HTTPBody {
    HTTPBody(Storage(origin, length, isReplayable ? nil : Use(), open))
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
  public var isReplayable: Bool { storage.use == nil }

  /// Whether the body can be read only once and has been read.
  public var isUsedUp: Bool { storage.use?.isOver == true }

  /// Whether the request waits for an interim response (100) before it sends the body (RFC 9110 section 10.1.1).
  public var expectsContinue: Bool { storage.expectsContinue }

  /// Returns the body with `Expect: 100-continue`: the request waits at most one second for the interim response before
  /// it sends the body. If the server rejects the expectation with 417, the request is sent again without the
  /// expectation. Over HTTP/2 the request does not wait.
  public func expectingContinue() -> HTTPBody {
    HTTPBody(
      Storage(storage.origin, storage.length, storage.use, expectsContinue: true, storage.opener))
  }

  package var origin: Origin { storage.origin }

  /// The length in words, such as `12 bytes` or `a stream of unknown length`.
  package var measure: String { length.map { "\($0) bytes" } ?? "a stream of unknown length" }

  // MARK: - Reading

  /// Opens the body. Called by transports when they need the first bytes. A request whose body can be read only once
  /// may be sent again as long as its body has not been opened.
  ///
  /// The source enforces the announced length. It throws ``TransportFailure``, or ``BodySourceFailure`` with the error
  /// of the underlying source.
  ///
  /// - Parameter flow: Resumes the body after ``BodyRead/later``.
  public func open(_ flow: BodyFlow) throws -> any BodySource {
    if let data { return DataBodySource(data) }
    guard storage.use?.begin() != false, let opener = storage.opener else { throw Self.usedUp }
    let source = try BodySourceFailure.naming { try opener(flow) }
    return CheckedBodySource(source, length: length)
  }

  package static let usedUpClause =
    "its source can be read only once and has been read; use data or a file, or make the stream with `isReplayable: true`"

  private static let usedUp = TransportFailure(.bodySource, "The body cannot be sent: \(usedUpClause).")
}

extension HTTPBody: Equatable {
  /// Whether both bodies have the same bytes in memory, or are the same instance.
  public static func == (left: HTTPBody, right: HTTPBody) -> Bool {
    if left.storage === right.storage { return true }
    guard let mine = left.data, let theirs = right.data else { return false }
    return mine == theirs && left.expectsContinue == right.expectsContinue
  }
}

extension HTTPRequest {
  /// Whether the request has no body or a body in memory, so that all sent bytes can be compared. A call with any other
  /// body shares neither an exchange nor a stored response with another call.
  package var isComparable: Bool { body == nil || body?.data != nil }
}

extension HTTPBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The length of the body, never its content.
  public var description: String { measure }
  /// The length of the body, never its content.
  public var debugDescription: String { description }
  /// The mirror that a dump shows: the length of the body.
  public var customMirror: Mirror { Mirror(self, children: ["body": description], displayStyle: .struct) }
}

final class DataBodySource: BodySource {
  private var rest: Data

  init(_ data: Data) { rest = data }

  func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
    guard !rest.isEmpty else { return .end }
    let count = min(room.count, rest.count)
    rest.copyBytes(to: room, count: count)
    rest = rest.dropFirst(count)
    return .bytes(count)
  }
}
