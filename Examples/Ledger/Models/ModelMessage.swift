import Errand

/// A message that a model of the app is made of.
protocol ModelMessage: WireMessage {
  associatedtype Model: Sendable

  func model() throws -> Model
}

/// Why a message makes no model.
struct NoModel: Error, CustomStringConvertible {
  let description: String
}
