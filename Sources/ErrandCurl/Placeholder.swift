public import ErrandCore

/// stands in until the transport lands
public final class CurlTransport: Transport { public init() {}
  public func send(_ exchange: Exchange) async throws -> HTTPResponse { throw TransportFailure(.other, "no") } }
