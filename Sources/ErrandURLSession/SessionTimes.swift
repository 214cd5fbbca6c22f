import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What URLSession measured of one exchange, its moments as dates. Never told on Linux.
struct SessionTimes: Sendable, Equatable {
  var fetchStart: Date?
  var nameLookupEnd: Date?
  var connectEnd: Date?
  var tlsEnd: Date?
  var requestStart: Date?
  var responseStart: Date?
  var responseEnd: Date?
  var protocolName: String?
  var isReused: Bool?
  var bytesSent: Int64 = 0
  var bytesReceived: Int64 = 0
  var remoteAddress: String?

  init() {}

  init(_ metrics: URLSessionTaskTransactionMetrics) {
    fetchStart = metrics.fetchStartDate
    nameLookupEnd = metrics.domainLookupEndDate
    connectEnd = metrics.connectEndDate
    tlsEnd = metrics.secureConnectionEndDate
    requestStart = metrics.requestStartDate
    responseStart = metrics.responseStartDate
    responseEnd = metrics.responseEndDate
    protocolName = metrics.networkProtocolName
    isReused = metrics.isReusedConnection
    #if canImport(Darwin)
      bytesSent = metrics.countOfRequestHeaderBytesSent + metrics.countOfRequestBodyBytesSent
      bytesReceived = metrics.countOfResponseHeaderBytesReceived + metrics.countOfResponseBodyBytesReceived
      remoteAddress = metrics.remoteAddress
    #endif
  }
}

extension ExchangeMetrics {
  /// Counts from the moment at which URLSession took the exchange up. Its `connectEnd` includes TLS, which ours does
  /// not, so that the two are told apart only where there was no TLS.
  init(_ times: SessionTimes) {
    self.init()
    let start = times.fetchStart
    func after(_ date: Date?) -> Duration? {
      guard let start, let date else { return nil }
      return .seconds(max(date.timeIntervalSince(start), 0))
    }
    nameLookup = after(times.nameLookupEnd)
    connect = times.tlsEnd == nil ? after(times.connectEnd) : nil
    tls = after(times.tlsEnd)
    firstByte = after(times.responseStart)
    total = after(times.responseEnd)
    isConnectionReused = times.isReused
    bytesSent = times.bytesSent
    bytesReceived = times.bytesReceived
    remoteAddress = times.remoteAddress
    version = times.protocolName.flatMap(Self.version)
  }

  /// By the name that ALPN gives it (RFC 7301).
  private static func version(_ name: String) -> ResponseHead.Version? {
    switch name.lowercased() {
    case "http/1.0": .http1_0
    case "http/1.1": .http1_1
    case "h2": .http2
    case "h3": .http3
    default: nil
    }
  }
}
