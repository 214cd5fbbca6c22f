/// A step of a batch or a chain: a request, another group, or a custom type.
///
/// Every ``APIRequest`` and every ``CallGroup`` is a step. A custom type does its work in ``run(in:)`` and sends its
/// calls through the given group:
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
  /// The type of the step's value.
  associatedtype Response: Sendable

  /// Runs the step as a part of a group.
  ///
  /// In a batch the step runs in a separate task, which is cancelled when the batch ends early.
  /// - Throws: ``APIError``.
  func run(in group: GroupScope) async throws(APIError) -> Response
}

/// The name of a member. It is computed only when a report or an error is printed, because computing the name of a type
/// is slow.
struct MemberName: Sendable, CustomStringConvertible {
  private let type: any Any.Type
  private let given: String?

  /// The name of the step's type.
  init<S: GroupStep>(of step: S) {
    type = S.self
    given = nil
  }

  /// The name of a step that may be a group; a group has its own name.
  init<S: GroupStep>(ofAny step: S) {
    type = S.self
    given = (step as? any CallGroup)?.name
  }

  /// The name of a group.
  init(_ group: GroupInfo) {
    type = GroupInfo.self
    given = group.name
  }

  var description: String { given ?? "\(type)" }
}
