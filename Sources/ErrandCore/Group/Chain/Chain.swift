/// Steps that can use the values of earlier steps. A chain is a value: it can be started with callbacks, started
/// several times, and used as a step of another chain or a batch.
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
/// In `async` code the method ``APIClient/chain(options:_:)`` is shorter. If the closure throws an error, the `async
/// let` branches that still run are cancelled. The closure may run in any task. A closure that uses the main actor must
/// declare it: `{ @MainActor chain in … }`.
public struct Chain<Response: Sendable>: CallGroup {
  /// The name of the chain in reports, logs and errors.
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
