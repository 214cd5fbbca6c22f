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
