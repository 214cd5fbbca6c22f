/// A parameter that an API rejects.
struct WrongParameter: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
