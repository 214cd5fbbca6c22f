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

/// The name of a member of a group. The name is computed only when a report or an error is printed, because computing
/// the name of a type is slow.
struct MemberName: Sendable, CustomStringConvertible {
  private let type: any Any.Type
  private let given: String?

  /// Makes the name of a member from the type of its step.
  init<S: GroupStep>(of step: S) { self.init(type: S.self, given: nil) }

  /// Makes the name of a member that may be a group. For a group this is the name of the group, otherwise the name of
  /// the type of the step.
  init<S: GroupStep>(ofAny step: S) {
    if let step = step as? AnyStep {
      self.init(ofAny: step.base)
    } else {
      self.init(type: S.self, given: (step as? any CallGroup)?.name)
    }
  }

  /// Makes the name of a member that is a group.
  init(_ group: GroupInfo) { self.init(type: GroupInfo.self, given: group.name) }

  private init(type: any Any.Type, given: String?) { (self.type, self.given) = (type, given) }

  var description: String { given ?? "\(type)" }
}
