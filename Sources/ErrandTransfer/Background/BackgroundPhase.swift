import ErrandCore

/// How far a transfer in the background is, as it stands in its record.
enum BackgroundPhase: Sendable, Hashable, Codable {
  /// The system has it.
  case running
  /// The system had it not when it was asked; what became of it may still be told.
  case missed
  /// It was cancelled here, and its end is not told yet.
  case cancelling
  /// The file of its answer was taken, and is to be checked.
  case came(BackgroundAnswer)
  /// The file was checked, and is to be given its name; of a download alone.
  case placing(PlacedFile)
  /// It failed, and somebody is to be told.
  case failed(BackgroundFault)

  /// A file that was checked.
  struct PlacedFile: Sendable, Hashable, Codable {
    let target: RecordedPlace
    let bytes: Int64
    let checkedBy: [String]
  }
}

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
