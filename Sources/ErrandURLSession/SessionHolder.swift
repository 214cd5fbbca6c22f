import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The settings from which sessions are created. Sessions never share connections. So a connection is only used under
/// the trust settings with which it was opened.
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
