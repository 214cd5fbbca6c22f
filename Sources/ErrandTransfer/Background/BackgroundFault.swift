import ErrandCore

/// An error as it stands in a record, to be told once more where the process ended before it was told.
struct BackgroundFault: Sendable, Hashable, Codable {
  private let stage: APIError.Stage
  private let code: APIError.Code
  private let message: String

  init(_ error: APIError) {
    stage = error.stage
    code = error.code
    message = error.message
  }

  /// The error, without the answer.
  var error: APIError { APIError(stage, code, message) }
}
