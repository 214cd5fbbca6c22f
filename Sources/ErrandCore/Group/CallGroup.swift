/// Calls that belong together and end as one: a ``Batch``, a ``Chain``, a ``StepChain``, or a type of one's own.
///
/// A group is a value: it can be started again, run a thousand times at once, and be a step of another group.
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
  /// What the group gives.
  associatedtype Response
  /// What kind of group it is; ``GroupKind/chain`` where nothing is said.
  var kind: GroupKind { get }
  /// Its name in plans, logs and errors; that of its type where nothing is said.
  var name: String { get }

  /// Does the work: sends the members through `group`, so that they end with it.
  ///
  /// Where the group was started with callbacks it runs in a task that a cancel of the group cancels; elsewhere in the
  /// caller's task. An error that is no ``APIError`` becomes the cause of one with the code ``APIError/Code/step``.
  func body(in group: GroupScope) async throws -> Response
}

extension CallGroup {
  /// A chain.
  public var kind: GroupKind { .chain }
  /// The name of the type.
  public var name: String { "\(Self.self)" }

  /// Runs the group as a member of another one.
  public func run(in group: GroupScope) async throws(APIError) -> Response { try await group.send(self) }
}
