import Errand
import ErrandTesting

/// What calls came to.
final class MixedTally: Sendable, CustomStringConvertible {
  private let wrongs = Recorded<String>()
  private let told = Recorded<String>()

  /// What must never be, a sentence each.
  var wrong: [String] { wrongs.all }
  /// How many calls came through.
  var successes: Int { told.all.count { $0 == "success" } }

  func note(wrong: String) { wrongs.append(wrong) }

  /// Notes an outcome: a value must be the right one, and a failure one that the server or the caller can be blamed for.
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
