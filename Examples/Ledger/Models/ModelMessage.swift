import Errand
import ErrandCore

/// A message that converts to a model of the app.
protocol ModelMessage: WireMessage {
  associatedtype Model: Sendable

  func model() throws -> Model
}

/// The message cannot be converted to a model.
struct NoModel: Error, CustomStringConvertible {
  let description: String
}
