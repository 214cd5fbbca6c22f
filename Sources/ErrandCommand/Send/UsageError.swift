/// An error in the arguments of the command.
struct UsageError: Error, Equatable, CustomStringConvertible {
  /// A text that names the mistake in the arguments and how to correct it.
  let description: String

  init(_ description: String) { self.description = description }
}
