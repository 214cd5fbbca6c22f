import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What sessions are made of. Each has its own connections, so those made under different trust never meet.
struct SessionSetup: Sendable {
  let settings: URLSessionSettings
  let trust: SessionTrust
  let platform: SessionPlatform
}

/// A session and its delegate, invalidated when nobody holds them any more: URLSession keeps its delegate until then.
final class SessionHolder: Sendable {
  private let session: URLSession
  private let router: SessionRouter
  /// Whether its tasks wait for a network.
  let waits: Bool

  init(_ setup: SessionSetup, lanes: SessionLanes, waits: Bool = false) {
    self.waits = waits
    router = SessionRouter(setup.platform, setup.trust, lanes: lanes)
    session = URLSession(
      configuration: setup.settings.configuration(waits: waits), delegate: router, delegateQueue: lanes.queue)
  }

  /// What URLSession holds until it is told to let go, for tests.
  var watched: [any AnyObject & Sendable] { [router] }

  deinit { session.finishTasksAndInvalidate() }

  /// A task for what is to be sent, not yet started.
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
