import ErrandCore

/// The phase of a background transfer, as the saved record of the transfer contains it.
enum BackgroundPhase: Sendable, Hashable, Codable {
  /// The system is performing the transfer.
  case running
  /// At the last launch, the system did not list the transfer. The system may still report the end of the transfer.
  case missed
  /// The app cancelled the transfer, and the system has not reported the end of the transfer yet.
  case cancelling
  /// The response file of the transfer has arrived and must be checked.
  case came(StoredResponse)
  /// The file of a download was checked and must be moved to its target path. Uploads never have this phase.
  case placing(PlacedFile)
  /// The transfer failed, and the failure has not been reported to the app yet.
  case failed(BackgroundFault)

  /// A downloaded file that was checked, and the target path to which the file must be moved.
  struct PlacedFile: Sendable, Hashable, Codable {
    let target: RecordedPlace
    let bytes: Int64
    let checkedBy: [String]
  }
}

/// The error of a transfer in the form that the saved record contains. If this process ends before the error is
/// reported, the next launch of the app reports it.
struct BackgroundFault: Sendable, Hashable, Codable {
  private let stage: APIError.Stage
  private let code: APIError.Code
  private let message: String

  init(_ error: APIError) {
    stage = error.stage
    code = error.code
    message = error.message
  }

  /// The error that the saved record contains. It has a message, but no HTTP response.
  var error: APIError { APIError(stage, code, message) }
}
