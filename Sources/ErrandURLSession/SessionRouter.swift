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
