import ErrandCore

/// The phase of a background transfer, as its record stores it.
enum BackgroundPhase: Sendable, Hashable, Codable {
  /// The system performs the transfer.
  case running
  /// The system did not list the transfer at launch. Its end may still be reported.
  case missed
  /// The app cancelled the transfer, and the end has not been reported yet.
  case cancelling
  /// The response file was received and must be checked.
  case came(BackgroundAnswer)
  /// The file was checked and must be moved to its target; only for downloads.
  case placing(PlacedFile)
  /// The transfer failed, and the failure has not been reported yet.
  case failed(BackgroundFault)

  /// A checked file and its target.
  struct PlacedFile: Sendable, Hashable, Codable {
    let target: RecordedPlace
    let bytes: Int64
    let checkedBy: [String]
  }
}

/// An error in a record, so that the next launch can report it if this process ends first.
struct BackgroundFault: Sendable, Hashable, Codable {
  private let stage: APIError.Stage
  private let code: APIError.Code
  private let message: String

  init(_ error: APIError) {
    stage = error.stage
    code = error.code
    message = error.message
  }

  /// The error, without its response.
  var error: APIError { APIError(stage, code, message) }
}
