/// A download or an upload as it is handed over to a ``BackgroundSession``.
public struct BackgroundOrder: Sendable {
  /// What the session knows it by; no secret.
  public let name: String
  /// What is sent, with its credential, cookies and signature. The body of an upload is a whole file, which stays until
  /// the end; a download has none.
  public let request: HTTPRequest
  /// Which networks it may use. It waits for one in any case.
  public let network: NetworkWish

  /// Makes an order.
  public init(name: String, request: HTTPRequest, network: NetworkWish = NetworkWish()) {
    self.name = name
    self.request = request
    self.network = network
  }
}
