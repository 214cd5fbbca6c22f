/// Converts the value of a response for a screen. The request does not depend on the reformer.
///
/// ```swift
/// struct UserRow: Reformer {
///   func reform(_ user: User) -> Row { Row(title: user.name, badge: user.unread > 0) }
/// }
/// let row = try await client.send(GetUser(id: 7), as: UserRow())
/// ```
///
/// A reformer runs off the main actor even if the closures of the call run on it. It may run more than once.
public protocol Reformer<Input, Output>: Sendable {
  /// The value of a response, or the output of another reformer.
  associatedtype Input: Sendable
  /// The value that the screen needs.
  associatedtype Output: Sendable

  /// Converts a value. An error becomes the cause of an ``APIError`` of code ``APIError/Code/reform``; an ``APIError``
  /// is passed on unchanged.
  func reform(_ input: Input) throws -> Output
}

extension Reformer {
  /// Makes a reformer that runs this reformer, and then runs `next` on the output.
  public func then<Next: Reformer>(_ next: Next) -> some Reformer<Input, Next.Output> where Next.Input == Output {
    Reform { input in try next.reform(self.reform(input)) }
  }

  /// A reformer that converts each value of a list, in order.
  public var each: some Reformer<[Input], [Output]> { Reform { inputs in try inputs.map(reform) } }
}

/// A reformer made of a closure.
public struct Reform<Input: Sendable, Output: Sendable>: Reformer {
  private let closure: @Sendable (Input) throws -> Output

  /// Makes a reformer.
  public init(_ closure: @escaping @Sendable (Input) throws -> Output) { self.closure = closure }

  /// Converts a value with the closure.
  public func reform(_ input: Input) throws -> Output { try closure(input) }
}

extension APIError.Code {
  /// A reformer could not convert the value.
  public static let reform = Self(rawValue: "reform")
}
