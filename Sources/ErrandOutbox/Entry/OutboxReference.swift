/// Refers to an object that another entry creates, before the server has assigned its identifier.
///
/// ```swift
/// let created = try await outbox.add(CreateNote(title: "x"))
/// try await outbox.add(Rename(note: created.reference, title: "y"))   // waits for the identifier
/// ```
///
/// `Rename` declares `let note: OutboxReference` and uses it in its path: `"/notes/\(note)"`. The outbox sends the
/// request after ``OutboxRequest/createdID(from:)`` of the creation has returned the identifier, and decodes the
/// request with it.
public struct OutboxReference: Sendable, Hashable, Codable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The identifier; nil while it is not known.
  public let id: String?
  /// The entry that creates the object; nil if the identifier is known.
  public let entry: OutboxEntry.ID?

  /// Refers to an object whose identifier is known.
  public init(_ id: String) {
    self.id = id
    entry = nil
  }

  /// Refers to an object whose identifier is known.
  public init(stringLiteral value: String) { self.init(value) }

  /// Refers to the object that an entry creates.
  public init(createdBy entry: OutboxEntry.ID) {
    id = nil
    self.entry = entry
  }

  /// The identifier, or a placeholder such as `pending-12`.
  public var description: String { id ?? Self.placeholder(entry?.rawValue ?? 0) }

  static func placeholder(_ entry: Int64) -> String { "pending-\(entry)" }

  private struct Pending: Codable {
    let pending: OutboxEntry.ID
  }

  /// Reads the identifier, or the number of the entry that creates it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let id = try? container.decode(String.self) {
      self.init(id)
      return
    }
    let entry = try container.decode(Pending.self).pending
    guard let resolver = RequestResolver.key.flatMap({ decoder.userInfo[$0] }) as? RequestResolver else {
      self.init(createdBy: entry)
      return
    }
    guard let id = try resolver.find(entry.rawValue) else {
      if !resolver.isSent {
        self.init(createdBy: entry)
        return
      }
      // A request with a placeholder must not be sent.
      throw OutboxError(.parent, "Entry \(entry), to which the request refers, has made no identifier.")
    }
    self.init(id)
  }

  /// Writes the identifier as a string, or the number of the entry as an object.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    guard let entry else { return try container.encode(id ?? "") }
    (RequestCollector.key.flatMap { encoder.userInfo[$0] } as? RequestCollector)?.found.insert(entry.rawValue)
    try container.encode(Pending(pending: entry))
  }
}
