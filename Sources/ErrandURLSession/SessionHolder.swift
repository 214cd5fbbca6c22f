import Dispatch
import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The settings from which sessions are created. Sessions never share connections. So a connection is only used under
/// the trust settings with which it was opened. But the system may share TLS sessions within the process, and a resumed
/// TLS session may keep an older client certificate.
struct SessionSetup: Sendable {
  let settings: URLSessionSettings
  let trust: SessionTrust
  let platform: SessionPlatform
}

/// A session and its delegate. The session is invalidated when this object is deallocated, because URLSession retains
/// the delegate until the session is invalidated.
final class SessionHolder: Sendable {
  private let session: URLSession
  private let router: SessionRouter
  /// Whether the tasks of this session wait for a network connection if there is none.
  let waits: Bool

  init(_ setup: SessionSetup, queues: SessionQueues, waits: Bool = false) {
    self.waits = waits
    router = SessionRouter(setup.platform, setup.trust, queues: queues)
    session = URLSession(
      configuration: setup.settings.configuration(waits: waits), delegate: router, delegateQueue: queues.callbackQueue)
  }

  /// The objects that URLSession retains until the session is invalidated. Tests check that they are released.
  var watched: [any AnyObject & Sendable] { [router] }

  deinit { session.finishTasksAndInvalidate() }

  /// Creates a URLSession task for a request, without starting the task.
  func task(for order: SessionOrder, _ upload: SessionUpload, _ exchange: SessionExchange) -> any SessionTask {
    let task =
      switch upload {
      case .none: session.dataTask(with: order.request)
      case .data(let data): session.uploadTask(with: order.request, from: data)
      case .file(let file): session.uploadTask(with: order.request, fromFile: file)
      case .copy(let file): session.uploadTask(with: order.request, fromFile: file.url)
      }
    task.priority =
      switch exchange.exchange.priority {
      case .low: URLSessionTask.lowPriority
      case .normal: URLSessionTask.defaultPriority
      case .high: URLSessionTask.highPriority
      }
    router.add(exchange, for: task)
    return task
  }
}

/// The queues of a transport:
/// - a serial queue for URLSession's callbacks,
/// - a serial queue for calls to URLSession,
/// - a concurrent queue for the check of server certificates, which can be slow.
final class SessionQueues: Sendable {
  /// The queue on which URLSession calls its delegate.
  let callbackQueue: OperationQueue
  private let calls = DispatchQueue(label: "errand.urlsession.calls", qos: .userInitiated)
  private let trustChecks = DispatchQueue(
    label: "errand.urlsession.trust", qos: .userInitiated, attributes: .concurrent)

  init() {
    callbackQueue = OperationQueue()
    callbackQueue.name = "errand.urlsession"
    callbackQueue.maxConcurrentOperationCount = 1
    callbackQueue.qualityOfService = .userInitiated
  }

  /// Runs a closure on the queue on which URLSession calls its delegate.
  func runCallback(_ body: @escaping @Sendable () -> Void) { callbackQueue.addOperation(body) }

  /// Runs a closure that calls URLSession, on the serial queue for such closures.
  func runCall(_ body: @escaping @Sendable () -> Void) { calls.async(execute: body) }

  /// Runs the check of a server's certificate on the concurrent queue, so that other work is not delayed.
  func runTrustCheck(_ body: @escaping @Sendable () -> Void) { trustChecks.async(execute: body) }
}

/// The operations that an exchange needs from a URLSession task. They are a protocol, so that tests can check pauses
/// even on platforms where URLSession does not support them.
protocol SessionTask: Sendable {
  /// Starts the URLSession task, or resumes it after a pause.
  func resume()
  /// Pauses the URLSession task.
  func suspend()
  func cancel()
}

extension URLSessionTask: SessionTask {}
