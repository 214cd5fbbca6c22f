/// A step of a batch or a chain: a request, a group of its own, or a type of the user's.
///
/// Every ``APIRequest`` and every ``CallGroup`` is one. A type of one's own says in ``run(in:)`` what it does, and does
/// it with the group it is given:
///
/// ```swift
/// struct Greeting: GroupStep {
///   let id: Int
///   func run(in group: GroupScope) async throws(APIError) -> String {
///     "Hello, " + (try await group.send(GetUser(id: id))).nick
///   }
/// }
/// ```
public protocol GroupStep<Response>: Sendable {
  /// What the step gives.
  associatedtype Response: Sendable

  /// Runs the step as a part of a group.
  ///
  /// In a batch it runs in a task of its own, which is cancelled when the batch ends early.
  /// - Throws: ``APIError``.
  func run(in group: GroupScope) async throws(APIError) -> Response
}

extension GroupStep {
  /// The name of the step's type, for plans and errors.
  var typeName: String { "\(type(of: self))" }
}
