/// An error in the arguments.
struct UsageError: Error, Equatable, CustomStringConvertible {
  /// The problem and the cure.
  let description: String

  init(_ description: String) { self.description = description }
}
