/// Converts the value of a response for a screen. The request does not depend on the reformer.
///
/// ```swift
/// struct UserRow: Reformer {
///   func reform(_ user: User) -> Row { Row(title: user.name, badge: user.unread > 0) }
/// }
/// let row = try await client.send(GetUser(id: 7), as: UserRow())
/// ```
///
/// For a call of `start`, the reformer does not run on the main actor, even if the closures of the call do. For a call
/// of `send` or `outcome`, the reformer runs on the caller's executor if the body has at most 16 KiB. A reformer may
/// run more than once.
public protocol Reformer<Input, Output>: Sendable {
  /// The type that the reformer converts: the value of a response, or the output of another reformer.
  associatedtype Input: Sendable
  /// The type that the screen needs.
  associatedtype Output: Sendable

  /// Converts a value. If this function throws an ``APIError``, the caller receives that error unchanged. Any other
  /// error becomes the cause of an ``APIError`` of code ``APIError/Code/reform``.
  func reform(_ input: Input) throws -> Output
}

extension Reformer {
  /// Returns a reformer that runs this reformer, and then runs `next` on the output of this reformer.
  public func then<Next: Reformer>(_ next: Next) -> some Reformer<Input, Next.Output> where Next.Input == Output {
    Reform { input in try next.reform(self.reform(input)) }
  }

  /// A reformer that converts each value of an array with this reformer, in order.
  public var each: some Reformer<[Input], [Output]> { Reform { inputs in try inputs.map(reform) } }
}

/// A reformer that is made from a closure.
public struct Reform<Input: Sendable, Output: Sendable>: Reformer {
  private let closure: @Sendable (Input) throws -> Output

  /// Makes a reformer from a closure that converts a value.
  public init(_ closure: @escaping @Sendable (Input) throws -> Output) { self.closure = closure }

  /// Converts a value with the closure.
  public func reform(_ input: Input) throws -> Output { try closure(input) }
}

extension APIError.Code {
  /// The code of the error if a reformer could not convert the value.
  public static let reform = Self(rawValue: "reform")
}
