import Errand
import ErrandCache
import ErrandSupport

/// Stands at the head of the line, looks into a store with the request as it would be sent, and lets nothing be sent.
final class StoredLookup: Interceptor {
  private let store: any CacheStore
  private let noted = Locked(StoredAnswers())

  init(_ store: any CacheStore) { self.store = store }

  /// What was found.
  var found: StoredAnswers { noted.withLock { $0 } }

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let found = await store.answers(to: request, in: context)
    noted.withLock { $0 = found }
    return HTTPResponse(head: ResponseHead(status: 204), url: request.url)
  }
}
