import Errand

/// The common properties of the services.
protocol LedgerService: Sendable {
  var client: APIClient { get }
}

extension LedgerService {
  /// Sends a request and converts the response message into the app's model.
  func model<R: LedgerRequest>(_ request: R) async throws(APIError) -> R.Response.Model
  where R.Response: ModelMessage {
    try await client.send(request, as: Reform { message in try message.model() })
  }
}
