import Errand
import ErrandTesting

/// A step that waits for something other than a call.
struct Waiting: GroupStep {
  let latch: Latch
  var isStubborn = false
  var value = "late"
  func run(in group: GroupScope) async throws(APIError) -> String {
    if isStubborn {
      await latch.waitStubbornly()
      return value
    }
    guard (try? await latch.wait()) != nil else { throw APIError(.cancelled, .cancelled, "The wait was cancelled.") }
    return value
  }
}
