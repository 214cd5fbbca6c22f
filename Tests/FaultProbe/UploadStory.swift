import CFaultyCalls
import Errand
import Foundation

/// An upload from a file while one file call fails. The server receives all of the file or nothing, and the caller gets
/// the error.
struct UploadStory {
  private struct Put: APIRequest {
    typealias Response = String
    let file: URL
    var path: Path { "/up" }
    var method: HTTPMethod { .put }
    var body: RequestBody? { .file(file) }
  }

  let url: String
  let file: URL

  /// Plays the scenario while the call with the given number fails. Returns the number of calls, and the problems
  /// found.
  func play(_ turn: Int, _ code: Int32) async -> (calls: Int, problems: [String]) {
    let client = APIClient(baseURL: url)
    faulty_begin(file.path(percentEncoded: false), Int32(clamping: turn), code)
    let outcome = await client.outcome(of: Put(file: file))
    let calls = Int(faulty_count())
    let name = String(cString: faulty_name())
    faulty_end()
    var problems: [String] = []
    if let error = outcome.error {
      let isTold = error.code == .invalidBody || error.transportKind == .bodySource
      if !isTold || name.isEmpty { problems.append("\(name): \(error)") }
    } else if outcome.value != "taken" {
      problems.append("\(name): \(outcome.value ?? "nothing")")
    }
    let next = await client.outcome(of: Put(file: file))
    if next.value != "taken" { problems.append("\(name), then: \(next.error.map { "\($0)" } ?? "nothing")") }
    return (calls, problems)
  }
}
