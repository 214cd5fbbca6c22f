import Errand
import Foundation

/// How this library handles a fault.
enum ErrandClient {
  private struct Get: APIRequest {
    let path: Path
    var headers: RequestHeaders { ["X-Api-Key": .secret("key")] }
  }

  static func words(_ url: String) async throws -> String {
    let client = APIClient(baseURL: url)
    let options = CallOptions.deadline(.seconds(2))
    let outcome = await client.outcome(of: Get(path: "/fault"), options: options)
    let next = await client.outcome(of: Get(path: "/next"), options: options).value
    let error = outcome.error.map { "`\($0.code.rawValue)`" }
    let body = outcome.response?.body.count ?? 0
    return fault_table.words(
      outcome.response?.status, body, error, next: next.map { String(decoding: $0, as: UTF8.self) } ?? "nothing")
  }
}
