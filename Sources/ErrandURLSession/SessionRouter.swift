import ErrandHTTP
import ErrandSupport
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The delegate of a session: passes URLSession's callbacks to the exchange of the task.
final class SessionRouter: NSObject, URLSessionDataDelegate {
  let trust: SessionTrust
  let queues: SessionQueues
  private let platform: SessionPlatform
  private let exchanges = Locked<[Int: SessionExchange]>([:])

  init(_ platform: SessionPlatform, _ trust: SessionTrust, queues: SessionQueues) {
    self.platform = platform
    self.trust = trust
    self.queues = queues
  }

  /// Registers the exchange of a task. The exchange is removed when URLSession reports the end of the task.
  func add(_ exchange: SessionExchange, for task: URLSessionTask) {
    exchanges.withLock { $0[task.taskIdentifier] = exchange }
  }

  private func exchange(of task: URLSessionTask) -> SessionExchange? {
    exchanges.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    if platform.crashesOnLateCompletion, exchange(of: task)?.isCancelled != false { return }
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let exchange = exchange(of: dataTask)
    if let response = response as? HTTPURLResponse { exchange?.received(ResponseHead(response)) }
    completionHandler(exchange?.isOver == false ? .allow : .cancel)
  }

  #if canImport(Darwin)
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
      exchange(of: task)?.waitsForNetwork()
    }
  #endif

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(of: dataTask)?.received(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    exchange(of: task)?.sent(totalBytesSent)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    let exchange = exchange(of: task)
    if platform.hangsOnStatus401 {
      // End the exchange with the response that led to this challenge. The response reaches Errand's interceptors,
      // which handle credentials.
      exchange?.completed(nil, head: (task.response as? HTTPURLResponse).map(ResponseHead.init))
    }
    // If no exchange belongs to the task, cancel the challenge. Otherwise URLSession could open a connection to an
    // unchecked server, and other exchanges could use this connection.
    guard let exchange, !platform.hangsOnStatus401 else {
      return completionHandler(.cancelAuthenticationChallenge, nil)
    }
    #if canImport(Darwin)
      answer(challenge, for: exchange, completionHandler)
    #else
      _ = exchange
      completionHandler(.performDefaultHandling, nil)
    #endif
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    guard let last = metrics.transactionMetrics.last else { return }
    exchange(of: task)?.measured(ExchangeMetrics(SessionTimes(last)))
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }?
      .completed(error, head: (task.response as? HTTPURLResponse).map(ResponseHead.init))
  }
}

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
