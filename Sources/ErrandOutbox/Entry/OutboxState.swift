/// The state of an entry.
///
/// | from | to | when |
/// |---|---|---|
/// | queued | sending | the entry is the first of its lane, and its account is logged in |
/// | queued | expired, cancelled | its time has passed; the app cancelled or discarded it, or a later entry replaced it |
/// | queued | unknown | the fate of an earlier attempt is unknown, and the server may have forgotten the key, the time of the entry has passed, or the app cancelled it |
/// | queued | rejected, parked | an entry on which it depends failed; the stored request cannot be read |
/// | queued, sending | parked, unknown | the database is damaged at the entry; unknown if it may have been sent |
/// | queued | delivered | the app found out that the server carried it out, or the response of an attempt arrived late |
/// | sending | delivered | the server accepted the request |
/// | sending | queued | the attempt failed and another one follows, or a conflict was resolved |
/// | sending | rejected, parked | the server rejected the request; the app must decide |
/// | sending | cancelled | the change on the server won a conflict, or the app dropped the entry |
/// | sending | unknown | the app cancelled the entry while it was sent, or no attempt is left |
/// | unknown | delivered | the response of the cancelled attempt arrived late |
/// | rejected, parked, unknown, expired | queued | the app resends or edits the entry |
/// | rejected, parked, unknown, expired | cancelled | the app discards the entry |
public enum OutboxState: String, Sendable, Hashable, Codable, CaseIterable {
  /// The entry waits to be sent, for the first time or again.
  case queued
  /// The entry is being sent.
  case sending
  /// The server accepted the request.
  case delivered
  /// The server rejected the request, or no attempt is left. The entry is kept until the app resends or discards it.
  case rejected
  /// The entry cannot be sent without a decision of the app. It is kept until the app resends or discards it.
  case parked
  /// The server may or may not have carried out the request, and the entry is not sent again by itself. It is kept
  /// until the app resends or discards it.
  case unknown
  /// The entry was cancelled, replaced or discarded. The server has certainly not carried it out, unless the app
  /// discarded an entry whose ``OutboxEntry/mayHaveBeenSent`` was true, or decided so in a conflict.
  case cancelled
  /// The time of the entry has passed before it was sent. It is kept until the app resends or discards it.
  case expired

  /// True if the entry is not sent any more, unless the app resends it.
  public var isFinal: Bool { self != .queued && self != .sending }
  /// True if the entry is in the list of ``Outbox/deadLetters(after:limit:)``.
  public var isDeadLetter: Bool { [.rejected, .parked, .unknown, .expired].contains(self) }

  /// The number that is stored.
  var number: Int64 {
    switch self {
    case .queued: 0
    case .sending: 1
    case .delivered: 2
    case .rejected: 3
    case .parked: 4
    case .unknown: 5
    case .cancelled: 6
    case .expired: 7
    }
  }

  init?(number: Int64) {
    guard let found = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = found
  }
}

/// The reason for the state of an entry, such as the status with which the server rejected it.
public struct OutboxReason: Sendable, Hashable, CustomStringConvertible {
  /// A stable code for a reason.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The code as text.
    public let rawValue: String
    /// Makes a code from its text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The code as text.
    public var description: String { rawValue }

    /// The server rejected the request with a status.
    public static let status = Code(rawValue: "status")
    /// The server responded with 409 or 412, and the conflict was not resolved.
    public static let conflict = Code(rawValue: "conflict")
    /// The server is still carrying out an earlier attempt with the same key (409).
    public static let inProgress = Code(rawValue: "inProgress")
    /// The server knows the idempotency key with another body (422).
    public static let keyMismatch = Code(rawValue: "keyMismatch")
    /// The exchange with the server failed.
    public static let failure = Code(rawValue: "failure")
    /// The device was offline, or the request certainly did not reach the server for another reason that may pass.
    public static let offline = Code(rawValue: "offline")
    /// The server does not accept the credential, or none is available; the entry waits for a login.
    public static let login = Code(rawValue: "login")
    /// The request cannot be built.
    public static let build = Code(rawValue: "build")
    /// The server carried out the request, but its response could not be read.
    public static let response = Code(rawValue: "response")
    /// No attempt is left.
    public static let attempts = Code(rawValue: "attempts")
    /// The time of the entry has passed.
    public static let expired = Code(rawValue: "expired")
    /// The process ended while the entry was sent.
    public static let interrupted = Code(rawValue: "interrupted")
    /// The server may have forgotten the key, so the entry is not sent again blindly.
    public static let keyForgotten = Code(rawValue: "keyForgotten")
    /// The app cancelled the entry.
    public static let cancelled = Code(rawValue: "cancelled")
    /// The app discarded the entry.
    public static let discarded = Code(rawValue: "discarded")
    /// A later entry replaced this one.
    public static let superseded = Code(rawValue: "superseded")
    /// A later entry and this one cancelled out.
    public static let cancelledOut = Code(rawValue: "cancelledOut")
    /// The change on the server won a conflict.
    public static let keptTheirs = Code(rawValue: "keptTheirs")
    /// The app dropped the entry because of a conflict.
    public static let dropped = Code(rawValue: "dropped")
    /// The outbox does not know the type of the request, or only an older version of it.
    public static let unknownType = Code(rawValue: "unknownType")
    /// A part of the database is damaged, so that the entry cannot be read, or cannot be changed. Keep a copy of the
    /// folder of the outbox, then discard the entry. If its row cannot be read at all, its type and its request are not
    /// known any more.
    public static let damaged = Code(rawValue: "damaged")
    /// The stored request cannot be decoded or opened.
    public static let unreadable = Code(rawValue: "unreadable")
    /// An entry on which this entry depends failed for good.
    public static let parentFailed = Code(rawValue: "parentFailed")
  }

  /// A stable code.
  public let code: Code
  /// One English sentence for people, without secrets.
  public let message: String
  /// The status of the response; nil if there was none.
  public let status: Int?

  /// The code and the sentence.
  public var description: String { "\(code): \(message)" }

  init(_ code: Code, _ message: String, status: Int? = nil) {
    self.code = code
    self.message = message
    self.status = status
  }
}
