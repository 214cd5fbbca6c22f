/// Turns the value of an answer into what a screen needs, without the request knowing of it.
///
/// ```swift
/// struct UserRow: Reformer {
///   func reform(_ user: User) -> Row { Row(title: user.name, badge: user.unread > 0) }
/// }
/// let row = try await client.send(GetUser(id: 7), as: UserRow())
/// ```
///
/// A reformer runs off the main actor where closures are told there, and may be run more than once.
public protocol Reformer<Input, Output>: Sendable {
  /// The value of an answer, or what another reformer made of it.
  associatedtype Input: Sendable
  /// What the screen needs.
  associatedtype Output: Sendable

  /// Makes the one of the other. What it throws becomes the cause of an ``APIError`` of code
  /// ``APIError/Code/reform``; an ``APIError`` stays as it is.
  func reform(_ input: Input) throws -> Output
}

extension Reformer {
  /// This one first, then another on what it made.
  public func then<Next: Reformer>(_ next: Next) -> some Reformer<Input, Next.Output> where Next.Input == Output {
    Reform { input in try next.reform(self.reform(input)) }
  }

  /// The same for each value of a list, in order.
  public var each: some Reformer<[Input], [Output]> { Reform { inputs in try inputs.map(reform) } }
}

/// A reformer made of a closure.
public struct Reform<Input: Sendable, Output: Sendable>: Reformer {
  private let closure: @Sendable (Input) throws -> Output

  /// Makes a reformer.
  public init(_ closure: @escaping @Sendable (Input) throws -> Output) { self.closure = closure }

  /// Makes the one of the other.
  public func reform(_ input: Input) throws -> Output { try closure(input) }
}

extension APIError.Code {
  /// A reformer could not make what the screen needs of the value.
  public static let reform = Self(rawValue: "reform")
}
