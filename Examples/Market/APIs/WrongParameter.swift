/// Why an API does not take a parameter.
struct WrongParameter: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
