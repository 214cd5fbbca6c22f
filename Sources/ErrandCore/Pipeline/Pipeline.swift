/// The interceptors of a call, in the order in which a request passes through them.
final class Pipeline: Sendable {
  private let stops: [Stop]

  init(_ interceptors: [any Interceptor]) {
    stops = interceptors.map { interceptor in
      guard let selective = interceptor as? any SelectiveInterceptor else { return Stop(interceptor) }
      return Self.selective(selective)
    }
  }

  private static func selective(_ interceptor: some SelectiveInterceptor) -> Stop { SelectiveStop(interceptor) }

  func run(_ request: HTTPRequest, from index: Int, _ context: CallContext) async throws -> HTTPResponse {
    let place = place(for: request, from: index, context)
    guard place < stops.count else {
      throw TransportFailure(.other, "the pipeline of interceptors has no transport at its end")
    }
    let next = Next(pipeline: self, index: place + 1, context: context, caller: .library)
    return try await stops[place].interceptor.intercept(request, context: context, next: next)
  }

  /// The index of the next interceptor that has work for the request. This function is separate, so that its local
  /// variables do not enlarge the async frame of a call that waits in that interceptor.
  @inline(never)  // frame size
  private func place(for request: HTTPRequest, from index: Int, _ context: CallContext) -> Int {
    var place = index
    while place < stops.count, !stops[place].concerns(request, context) { place += 1 }
    return place
  }
}

/// One interceptor of a pipeline. The type is a class, because a copy of an existential value takes longer than a copy of
/// a reference.
private class Stop: @unchecked Sendable {  // immutable; a class that can have subclasses is not checked
  final let interceptor: any Interceptor

  init(_ interceptor: any Interceptor) { self.interceptor = interceptor }

  func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { true }
}

private final class SelectiveStop<Selective: SelectiveInterceptor>: Stop, @unchecked Sendable {  // as the superclass
  private let selective: Selective

  init(_ interceptor: Selective) {
    selective = interceptor
    super.init(interceptor)
  }

  override func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    selective.concerns(request, context)
  }
}

/// An interceptor that handles only some requests. The pipeline skips the interceptor for all other requests. So the
/// interceptor adds no async frame to the calls of these requests.
package protocol SelectiveInterceptor: Interceptor {
  /// Whether the interceptor has work for a request. If false, the pipeline skips the interceptor.
  func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool
}
