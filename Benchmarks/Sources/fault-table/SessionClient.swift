import Foundation
#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// How Foundation handles a fault.
enum SessionClient {
  static func words(_ url: String) async -> String {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 2
    let session = URLSession(configuration: configuration)
    guard let fault = URL(string: url + "/fault"), let next = URL(string: url + "/next") else { return "no URL" }
    var request = URLRequest(url: fault)
    request.setValue("key", forHTTPHeaderField: "X-Api-Key")
    var came: (status: Int?, count: Int, error: String?) = (nil, 0, nil)
    do {
      let (data, response) = try await session.data(for: request)
      came = ((response as? HTTPURLResponse)?.statusCode, data.count, nil)
    } catch {
      came.error = "\((error as NSError).code)"
    }
    let second = try? await session.data(from: next).0
    return fault_table.words(
      came.status, came.count, came.error, next: second.map { String(decoding: $0, as: UTF8.self) } ?? "nothing")
  }
}
