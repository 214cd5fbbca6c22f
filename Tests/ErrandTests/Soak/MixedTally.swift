import Errand
import ErrandTesting

/// The results of the calls.
final class MixedTally: Sendable, CustomStringConvertible {
  private let wrongs = Recorded<String>()
  private let told = Recorded<String>()

  /// Results that must never occur, one sentence each.
  var wrong: [String] { wrongs.all }
  /// The number of successful calls.
  var successes: Int { told.all.count { $0 == "success" } }

  func note(wrong: String) { wrongs.append(wrong) }

  /// Records an outcome. A value must be correct, and a failure must be attributable to the server or the caller.
  func note<Value>(_ name: String, _ result: Result<Value, APIError>, isRight: (Value) -> Bool) {
    switch result {
    case .success(let value):
      told.append("success")
      if !isRight(value) { wrongs.append("\(name) brought something else: \("\(value)".prefix(60))") }
    case .failure(let error):
      told.append(error.stage.rawValue)
      if !Self.expected.contains(error.stage) { wrongs.append("\(name) failed by \(error)") }
    }
  }

  private static let expected: Set<APIError.Stage> = [
    .transport, .validate, .authorize, .deadline, .cancelled, .transfer, .group,
  ]

  var description: String {
    let counts = Dictionary(grouping: told.all, by: { $0 }).mapValues(\.count)
    return counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }
}
