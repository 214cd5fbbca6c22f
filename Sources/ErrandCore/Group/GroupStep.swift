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

/// What a member is called: read only where a plan or an error is printed, since names of types are slow to make.
struct MemberName: Sendable, CustomStringConvertible {
  private let type: any Any.Type
  private let given: String?

  /// The name of the step's type.
  init<S: GroupStep>(of step: S) {
    type = S.self
    given = nil
  }

  /// The name of a step that may be a group: that has a name of its own.
  init<S: GroupStep>(ofAny step: S) {
    type = S.self
    given = (step as? any CallGroup)?.name
  }

  /// The name that a group has.
  init(_ group: GroupInfo) {
    type = GroupInfo.self
    given = group.name
  }

  var description: String { given ?? "\(type)" }
}
