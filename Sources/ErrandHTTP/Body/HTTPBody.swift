import ErrandSupport
public import Foundation

/// The body of a request as it is sent: bytes in memory, a file, or a source that gives them while they are sent.
///
/// It is one reference, so that requests are copied cheaply. Two bodies are equal when both are in memory with the same
/// bytes, or when they are one and the same.
public struct HTTPBody: Sendable {
  /// What is told apart for people, such as in a command line for curl.
  package enum Origin: Sendable {
    case memory(Data)
    case file(path: String)
    case other
  }

  package typealias Opener = @Sendable (BodyFlow) throws -> any BodySource

  private final class Storage: Sendable {
    let origin: Origin
    let length: Int64?
    /// What was read of a body that can be read once; nil for one that can be read again.
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

  /// Whether something has been read; shared by all copies.
  private final class Use: Sendable {
    private let hasBegun = Locked(false)

    var isOver: Bool { hasBegun.withLock { $0 } }

    /// False where it has begun before.
    func begin() -> Bool {
      hasBegun.withLock { hasBegun in
        defer { hasBegun = true }
        return !hasBegun
      }
    }
  }

  private let storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// Makes a body of bytes.
  public init(_ data: Data) { storage = Storage(.memory(data), Int64(data.count), nil, nil) }

  /// Makes a body of a source that is opened when the first bytes are wanted.
  ///
  /// - Parameters:
  ///   - length: Its length in bytes; nil where it is not known. A source that gives more or fewer ends the exchange
  ///     with ``TransportFailure/Kind/bodyChanged``.
  ///   - isReplayable: Whether `open` may be called again, and each source then gives the same bytes.
  ///   - open: Makes a source, on the transport's thread. It is handed what lets the body go on after
  ///     ``BodyRead/later``.
  public static func stream(
    length: Int64? = nil, isReplayable: Bool = false, _ open: @escaping @Sendable (BodyFlow) throws -> any BodySource
  ) -> HTTPBody {
    made(.other, length: length, isReplayable: isReplayable, open)
  }

  package static func made(_ origin: Origin, length: Int64?, isReplayable: Bool, _ open: @escaping Opener) -> HTTPBody {
    HTTPBody(Storage(origin, length, isReplayable ? nil : Use(), open))
  }

  // MARK: - What is known of it

  /// The length in bytes; nil where it is known only at the end.
  public var length: Int64? { storage.length }

  /// The bytes, where they are in memory; nil for a body that is read while it is sent.
  public var data: Data? {
    if case .memory(let data) = storage.origin { data } else { nil }
  }

  /// The path of the file that the whole body is; nil for any other body, a part of a file among them.
  public var filePath: String? {
    if case .file(let path) = storage.origin { path } else { nil }
  }

  /// Whether it can be sent more than once: by a redirect, or where a connection turns out to be dead.
  public var isReplayable: Bool { storage.use == nil }

  /// Whether it could be read once, and has been.
  public var isUsedUp: Bool { storage.use?.isOver == true }

  /// Whether the server is asked before the body is sent (RFC 9110 section 10.1.1).
  public var expectsContinue: Bool { storage.expectsContinue }

  /// The same body with `Expect: 100-continue`: it waits for the server's word, at most a second. Where the server
  /// refuses the expectation by 417, the request is sent again without it. Over HTTP/2 nothing is waited for.
  public func expectingContinue() -> HTTPBody {
    HTTPBody(
      Storage(storage.origin, storage.length, storage.use, expectsContinue: true, storage.opener))
  }

  package var origin: Origin { storage.origin }

  /// What this means to people: `12 bytes`, or `a stream`.
  package var measure: String { length.map { "\($0) bytes" } ?? "a stream of unknown length" }

  // MARK: - Reading

  /// Opens the body, for transports. Call it when the first bytes are wanted: a body that can be read once may be sent
  /// again as long as nobody has opened it.
  ///
  /// The source holds itself to the announced length. It throws ``TransportFailure``, or ``BodySourceFailure`` with
  /// what the source underneath threw.
  ///
  /// - Parameter flow: Lets the body go on after ``BodyRead/later``.
  public func open(_ flow: BodyFlow) throws -> any BodySource {
    if let data { return DataBodySource(data) }
    guard storage.use?.begin() != false, let opener = storage.opener else { throw Self.usedUp }
    let source = try BodySourceFailure.naming { try opener(flow) }
    return CheckedBodySource(source, length: length)
  }

  package static let usedUpClause =
    "its source can be read only once and has been read; give the body as data or as a file, or say that its stream is replayable"

  private static let usedUp = TransportFailure(.bodySource, "The body cannot be sent: \(usedUpClause).")
}

extension HTTPBody: Equatable {
  /// Whether both have the same bytes in memory, or are one and the same.
  public static func == (left: HTTPBody, right: HTTPBody) -> Bool {
    if left.storage === right.storage { return true }
    guard let mine = left.data, let theirs = right.data else { return false }
    return mine == theirs && left.expectsContinue == right.expectsContinue
  }
}

extension HTTPRequest {
  /// Whether all that is sent can be compared. A call whose body is read while it is sent shares no exchange with
  /// another one, and no stored answer.
  package var isComparable: Bool { body == nil || body?.data != nil }
}

extension HTTPBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How long it is, never what is in it.
  public var description: String { measure }
  /// How long it is, never what is in it.
  public var debugDescription: String { description }
  /// What a dump shows: how long it is.
  public var customMirror: Mirror { Mirror(self, children: ["body": description], displayStyle: .struct) }
}

/// Bytes in memory.
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
