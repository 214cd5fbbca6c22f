import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// URLSession's measurements of one HTTP exchange, as dates. URLSession on Linux does not provide these measurements.
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
  var remotePort: Int?

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
      remotePort = metrics.remotePort
    #endif
  }
}

extension ExchangeMetrics {
  /// Converts URLSession's dates to durations since the start of the exchange. The property ``connect`` must not
  /// include the TLS handshake, but URLSession's `connectEnd` includes it. So ``connect`` is set only for connections
  /// without TLS.
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
    remotePort = times.remotePort
    version = times.protocolName.flatMap(Self.version)
  }

  /// The HTTP version for an ALPN name (RFC 7301); nil if the name is not known.
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
