/// An error of an ``Outbox`` itself, such as a full disk. The failures of entries are reported as ``OutboxReason``.
public struct OutboxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable code for an error.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The code as text.
    public let rawValue: String
    /// Makes a code from its text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The code as text.
    public var description: String { rawValue }

    /// The folder cannot be created or opened, or other users may write to it.
    public static let folder = Code(rawValue: "folder")
    /// The files in the folder are damaged, or belong to another program.
    public static let damaged = Code(rawValue: "damaged")
    /// A later version of the library wrote the folder.
    public static let version = Code(rawValue: "version")
    /// The disk is full, read-only or unavailable. Nothing was stored.
    public static let disk = Code(rawValue: "disk")
    /// Another process blocked the database for too long. Nothing was stored.
    public static let busy = Code(rawValue: "busy")
    /// The type of the request is not in the list of the outbox, or two types in the list have the same name.
    public static let unregistered = Code(rawValue: "unregistered")
    /// The request's `check()` function rejected a parameter.
    public static let parameter = Code(rawValue: "parameter")
    /// The request cannot be encoded.
    public static let encoding = Code(rawValue: "encoding")
    /// The stored request cannot be decoded.
    public static let unreadable = Code(rawValue: "unreadable")
    /// The request has a property that looks like a secret, and the outbox has no seal.
    public static let secret = Code(rawValue: "secret")
    /// No entry has the number.
    public static let noEntry = Code(rawValue: "noEntry")
    /// The state of the entry does not allow the operation.
    public static let state = Code(rawValue: "state")
    /// The request refers to an entry that failed.
    public static let parent = Code(rawValue: "parent")
    /// A file of a request cannot be read, or was changed after the request was added.
    public static let file = Code(rawValue: "file")
    /// The account of the entry was logged out or switched while the request was being added. Nothing was stored.
    public static let account = Code(rawValue: "account")
    /// A fault of the library. Nothing was stored. Report the error.
    public static let fault = Code(rawValue: "fault")
    /// The outbox was closed.
    public static let closed = Code(rawValue: "closed")
  }

  /// A stable code.
  public let code: Code
  /// One or two English sentences: the problem, then what to do.
  public let message: String

  /// The code and the sentences.
  public var description: String { "\(code): \(message)" }

  /// The error that ``OutboxSeal/open(_:)`` throws for a form that it can never open. The entry is parked with the
  /// message as its reason; write one or two English sentences without secrets.
  public static func unreadable(_ message: String) -> OutboxError { OutboxError(.unreadable, message) }

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
