import ErrandCore
import ErrandSupport

/// A download that is ready to be handed over to the system: the request to send, and the values for the saved record
/// (``BackgroundDownloadState``).
struct BackgroundDownloadHandOver: Sendable {
  /// The request to send, after all interceptors of the client have changed it.
  let request: HTTPRequest
  let network: NetworkWish
  let download: Download
  /// A hash of the requested resource and of the account that requests it.
  let identity: String
  private let rules: BackgroundRules
  private let url: HTTPURL

  /// Runs a request through the client's interceptors without sending it.
  init<R: APIRequest>(_ request: R, by client: APIClient) async throws(APIError) {
    let made = try await client.handingOver(request, .download) { prepared, context -> BackgroundMade<Self>? in
      guard let download = context.plan.download, let frozen = context.frozenRequest else { return nil }
      let refusal = BackgroundDecision.refusal(of: download, prepared, context.plan.redirects)
      return refusal.map { .refused($0) } ?? .made(Self(prepared, frozen, download, context))
    }
    guard let made else {
      throw APIError(
        .build, .unsupported, "The request has no `download`; set it, because a background download needs a target.")
    }
    self = made
  }

  private init(_ prepared: HTTPRequest, _ frozen: HTTPRequest, _ download: Download, _ context: CallContext) {
    request = prepared
    network = context.plan.network
    self.download = download
    let identity = DownloadRun.identity(of: frozen, context)
    var hash = StableHash()
    hash.add(identity.method)
    hash.add(identity.variant)
    if let resource = download.resource {
      hash.add(resource)
    } else {
      // The query may contain a secret signature, so it is added separately as a secret. The origin and the path are
      // not treated as secrets.
      hash.add("\(frozen.url.origin)\(frozen.url.path)")
      hash.add(secret: frozen.url.query ?? "")
    }
    self.identity = hash.text
    rules = BackgroundRules(of: frozen, context.plan)
    url = frozen.url
  }

  /// The record to save for this download.
  func record(id: String, tag: String?, home: String) throws(APIError) -> BackgroundDownloadState {
    BackgroundDownloadState(
      id: id, tag: tag, request: identity, target: RecordedPlace(try download.target(for: url), home: home),
      isNamedByServer: download.isNamedByServer, replaces: download.replaces, permissions: download.permissions,
      checksum: download.checksum?.recorded, digests: download.digests.map(\.name),
      statuses: rules.statuses, contentTypes: rules.contentTypes, isSecure: rules.isSecure)
  }
}
