import Errand

/// What the services of all areas have in common.
protocol LedgerService: Sendable {
  var client: APIClient { get }
}

extension LedgerService {
  /// Sends a request and makes the app's model of the message that comes back.
  func model<R: LedgerRequest>(_ request: R) async throws(APIError) -> R.Response.Model
  where R.Response: ModelMessage {
    try await client.send(request, as: Reform { message in try message.model() })
  }
}
