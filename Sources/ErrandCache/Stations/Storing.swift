package import ErrandCore
import ErrandJSON

/// Asks the server about what is stored, takes its 304, stores what comes, and removes what a success makes worthless:
/// once for each exchange.
package struct Storing: SelectiveStation {
  private let cache: ResponseCache?

  package init(cache: ResponseCache?) { self.cache = cache }

  /// Where the call has looked for a stored answer, or changes something.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    cache != nil && (context.note is CacheTrip || !request.method.isSafe)
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let cache else { return try await next(request) }
    guard let trip = context.note as? CacheTrip else { return try await changing(request, context, cache, next) }
    return try await visiting(trip, request, context, cache, next)
  }

  // What follows stands apart, so that a call that waits below holds no room for what it does not do.

  /// A call without the cache that changes something makes what is stored for its URL worthless, too.
  @inline(never)
  private func changing(
    _ request: HTTPRequest, _ context: CallContext, _ cache: ResponseCache, _ next: Next
  ) async throws -> HTTPResponse {
    let response = try await next(request)
    let policy = context.cache?.policy(for: request.url.host) ?? .none
    let urls = CacheQuestion(request, policy: policy).invalidations(by: response.head)
    await Invalidation(cache: cache, context: context, request: request).remove(urls) { selection, store in
      cache.remove(selection, from: store)
    }
    return response
  }

  @inline(never)
  private func visiting(
    _ trip: CacheTrip, _ request: HTTPRequest, _ context: CallContext, _ cache: ResponseCache, _ next: Next
  ) async throws -> HTTPResponse {
    let visit = StoreVisit(cache: cache, context: context, trip: trip, request: request)
    let (answered, times) = try await ask(request, trip.asked?.how.fields ?? trip.question.fieldsToAdd, cache, next)
    if answered.status == 304, trip.asked != nil {
      if let response = visit.confirmed(by: answered, times) { return response }
      // It is about something else: the caller, who asked no such question, gets a whole answer.
      let (whole, times) = try await ask(request, trip.question.fieldsToAdd, cache, next)
      return try await visit.take(whole, times)
    }
    return try await visit.take(answered, times)
  }

  private func ask(
    _ request: HTTPRequest, _ fields: [HTTPField], _ cache: ResponseCache, _ next: Next
  ) async throws -> (HTTPResponse, StoreVisit.Times) {
    var request = request
    for field in fields { request.fields.append(field) }
    let sent = cache.wallClock()
    let response = try await next(request)
    return (response, StoreVisit.Times(sent: sent, received: cache.wallClock()))
  }
}
