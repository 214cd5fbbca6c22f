/// Words that ask for nothing that can be done.
struct UsageError: Error, Equatable, CustomStringConvertible {
  /// What is wrong, and what to write instead.
  let description: String

  init(_ description: String) { self.description = description }
}
