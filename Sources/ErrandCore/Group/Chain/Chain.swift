/// Steps made from the answers before them, as a value: it can be started with callbacks, again, and as a step of
/// another chain or a batch.
///
/// ```swift
/// let signUp = Chain("sign up") { chain in
///   let account = try await chain.send(Register(name: "x"))
///   async let user = chain.send(GetUser(id: account.id))
///   async let avatar = chain.send(Avatar(name: account.avatar))
///   return try await chain.send(Welcome(user, avatar))
/// }
/// client.start(signUp) { welcome in … }
/// ```
///
/// In `async` code ``APIClient/chain(options:_:)`` is shorter. Leaving the closure by an error cancels the branches that
/// still run. The closure may run in any task; one that touches the main actor says so: `{ @MainActor chain in … }`.
public struct Chain<Response: Sendable>: CallGroup {
  /// The name in plans, logs and errors.
  public let name: String
  private let steps: @Sendable (GroupScope) async throws -> Response

  /// Makes a chain.
  public init(_ name: String = "chain", _ steps: @escaping @Sendable (GroupScope) async throws -> Response) {
    self.name = name
    self.steps = steps
  }

  /// Runs the steps.
  public func body(in group: GroupScope) async throws -> Response { try await steps(group) }
}
