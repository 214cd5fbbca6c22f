public import ErrandCore
import ErrandJSON
public import Foundation

/// A request that may wait in an ``Outbox``: a change that is stored first and sent later, also by another run of the
/// program.
///
/// ```swift
/// struct Rename: OutboxRequest {
///   let noteID: String
///   let title: String
///   var path: Path { "/notes/\(noteID)" }
///   var method: HTTPMethod { .patch }
///   var arguments: Arguments { ["title": title] }
///   var outbox: OutboxRule { .lane("note", noteID).supersedes() }
///   typealias Response = Nothing
/// }
/// ```
///
/// The outbox stores the request as JSON, by its `Codable` conformance, and reads all other properties when it sends
/// the request. So a request that is sent twice must build the same body each time: a server that recognises the
/// idempotency key rejects another body under the same key.
public protocol OutboxRequest: APIRequest, Codable {
  /// How the request waits: its lane, its expiry and its limits. The property is read once, when the request is added.
  var outbox: OutboxRule { get }
  /// The name under which the outbox stores requests of this type. Each type of an outbox needs another name. Do not
  /// change the name while requests may wait.
  static var outboxType: String { get }
  /// The version of the stored form. Increase it if the stored properties change, and implement ``migrate(_:)``.
  static var outboxVersion: Int { get }
  /// Makes a request from one that an earlier version of the app stored. If the function throws, the request is kept
  /// and parked.
  static func migrate(_ old: StoredRequest) throws -> Self
  /// Decides about a conflict: the server responded with 409 or 412. The function decides at most three conflicts of an
  /// entry; another conflict parks the entry. A call that throws does not count as a decision, but as a failed attempt.
  ///
  /// If the function throws, the same request is sent again later. If the process ends during the function, the request
  /// is sent again after the next start.
  func resolve(_ conflict: OutboxConflict, in scope: OutboxScope) async throws -> OutboxResolution<Self>
  /// Finds out whether the server carried out this request. The outbox calls the function if it does not know the fate
  /// of the request and the server may have forgotten its idempotency key, so that sending it again might repeat it.
  ///
  /// If the function throws, it is called again later.
  func reconcile(in scope: OutboxScope) async throws -> OutboxFate
  /// The identifier of the object that this request has created, by its response. Other requests may refer to the
  /// identifier before the server has assigned it, by an ``OutboxReference``.
  func createdID(from response: Response) -> String?
}

extension OutboxRequest {
  /// By default, all requests without a lane of their own are sent one after the other.
  public var outbox: OutboxRule { OutboxRule() }
  /// By default, the name of the type without those of the types that contain it.
  public static var outboxType: String { String(describing: Self.self) }
  /// By default, 1.
  public static var outboxVersion: Int { 1 }
  /// By default, no other version can be read.
  public static func migrate(_ old: StoredRequest) throws -> Self {
    throw OutboxError(
      .unreadable,
      "\(old.type) of version \(old.version) cannot be read by version \(outboxVersion); implement `migrate(_:)`.")
  }
  /// By default, the conflict is not resolved, and the entry goes to the list of rejected entries.
  public func resolve(_ conflict: OutboxConflict, in scope: OutboxScope) async throws -> OutboxResolution<Self> {
    .unresolved
  }
  /// By default, the fate stays unknown, and the entry waits for a decision of the app.
  public func reconcile(in scope: OutboxScope) async throws -> OutboxFate { .unknown }
  /// By default, the request creates nothing that others refer to.
  public func createdID(from response: Response) -> String? { nil }
  /// By default, the request contains an idempotency key in the field `Idempotency-Key`. The key belongs to the entry
  /// and is the same each time that the entry is sent.
  public var idempotency: Idempotency { .keyed() }
}

/// A request that an earlier version of the app stored.
public struct StoredRequest: Sendable {
  /// The name of the type: ``OutboxRequest/outboxType``.
  public let type: String
  /// The version of the stored form: ``OutboxRequest/outboxVersion``.
  public let version: Int
  /// The stored JSON.
  public let json: Data
  let resolver: RequestResolver

  /// Decodes the stored JSON as another type. References get their identifiers.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let decoder = JSONDecoder()
    if let key = RequestResolver.key { decoder.userInfo[key] = resolver }
    return try decoder.decodeChecked(type, from: json)
  }
}

/// A response with status 409 or 412, for ``OutboxRequest/resolve(_:in:)``.
public struct OutboxConflict: Sendable {
  /// The entry that the server rejected.
  public let entry: OutboxEntry
  /// The error of the call, with the response.
  public let error: APIError
  /// The number of the conflicts of this entry, starting with 1.
  public let number: Int
}

/// The decision about a conflict.
public enum OutboxResolution<Request: Sendable>: Sendable {
  /// The local change wins: this request is sent instead, for example with the entity tag from the response. It has a
  /// new idempotency key, because the server has already responded to the old key.
  case keepMine(Request)
  /// The change on the server wins. The entry ends as cancelled.
  case keepTheirs
  /// Both changes are merged: this request is sent instead, with a new idempotency key.
  case merged(Request)
  /// The entry is dropped. It ends as cancelled.
  case drop
  /// No decision. The entry goes to the list of rejected entries.
  case unresolved
}

/// Whether a server carried out a request.
public enum OutboxFate: Sendable, Hashable {
  /// The server carried out the request. The entry ends as delivered. Name the identifier of the object that the
  /// request has created, as ``OutboxRequest/createdID(from:)`` would, if other requests may refer to it: without it
  /// they are rejected.
  case carriedOut(createdID: String? = nil)
  /// The server did not carry out the request. The entry is sent again, with a new idempotency key.
  case notCarriedOut
  /// The fate cannot be determined. The entry waits for a decision of the app.
  case unknown
}

/// Sends further requests for the account of an entry, while the app decides about the entry.
public struct OutboxScope: Sendable {
  let client: APIClient
  let options: CallOptions
  /// The owner of the calls, which are cancelled if it is released.
  let owner: CallOwner

  /// Sends a request for the account of the entry. The call fails if another account is logged in.
  /// - Throws: ``ErrandCore/APIError``.
  public func send<R: APIRequest>(_ request: R) async throws(APIError) -> R.Response {
    try await client.send(request, options: options)
  }
}
