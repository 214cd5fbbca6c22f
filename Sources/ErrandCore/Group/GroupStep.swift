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

  init<S: GroupStep>(of step: S) { self.init(type: S.self, given: nil) }

  /// Makes the name of a member that may be a group. For a group this is the name of the group, otherwise the name of
  /// the type of the step.
  init<S: GroupStep>(ofAny step: S) {
    if let step = step as? AnyStep {
      self = MemberName(ofAny: step.base)
    } else {
      self.init(type: S.self, given: (step as? any CallGroup)?.name)
    }
  }

  init(_ group: GroupInfo) { self.init(type: GroupInfo.self, given: group.name) }

  private init(type: any Any.Type, given: String?) { (self.type, self.given) = (type, given) }

  var description: String { given ?? "\(type)" }
}

/// Calls that belong together and end together: a ``Batch``, a ``Chain``, a ``StepChain``, or a custom type.
///
/// A group is a value: it can be started several times, run concurrently, and be a step of another group.
///
/// ```swift
/// struct SignUp: CallGroup {
///   let name: String
///   func body(in group: GroupScope) async throws -> Profile {
///     let account = try await group.send(Register(name: name))
///     return try await group.send(GetProfile(id: account.id))
///   }
/// }
/// let profile = try await client.send(SignUp(name: "x"))
/// ```
public protocol CallGroup<Response>: GroupStep {
  /// The type of the group's value.
  associatedtype Response
  /// The kind of the group; ``GroupKind/chain`` by default.
  var kind: GroupKind { get }
  /// The name of the group in reports, logs and errors; by default the name of its type.
  var name: String { get }

  /// Does the work of the group. Send all calls of the group through `group`, so that they are cancelled when the group
  /// ends early.
  ///
  /// If the group was started with callbacks, the body runs in a task that is cancelled when the group is cancelled.
  /// Otherwise the body runs in the caller's task. If the body throws an error that is not an ``APIError``, the group
  /// fails with an ``APIError`` of code ``APIError/Code/step`` whose ``APIError/cause`` is the thrown error.
  func body(in group: GroupScope) async throws -> Response
}

extension CallGroup {
  /// By default a group is a chain.
  public var kind: GroupKind { .chain }
  /// By default the name of a group is the name of its type.
  public var name: String { "\(Self.self)" }

  /// Runs this group as a member of another group.
  public func run(in group: GroupScope) async throws(APIError) -> Response { try await group.send(self) }
}
