import Errand

extension Outcome<Void> {
  /// `success`, or the stage of the failure.
  var told: String { error.map(\.stage.rawValue) ?? "success" }
}

extension Outcome {
  /// `success`, or the stage of the failure.
  var told: String { error.map(\.stage.rawValue) ?? "success" }
}
