// On Linux this file is only type-checked against stubs (Scripts/apple.py), never run. All decisions about background
// transfers are made in `BackgroundDecision` and `BackgroundUploadDecision`, which are tested on every platform.
#if canImport(Darwin)
  public import ErrandHTTP
  import ErrandSupport
  import Foundation

  /// A background session of URLSession, for `BackgroundDownloads` or `BackgroundUploads`.
  ///
  /// In each process, create exactly one object for each identifier, and create the object again at each launch of the
  /// app. This type has been type-checked, but never run.
  public final class URLSessionBackground: BackgroundSession {
    private let identifier: String
    private let isDiscretionary: Bool
    private let answerBytes: Int
    private let setup: SessionSetup
    private let session = Locked<URLSession?>(nil)

    /// Creates the object. The session of the system is created only by ``begin(_:)``.
    /// - Parameters:
    ///   - identifier: The system's name for the session. It should contain the bundle identifier of the app.
    ///   - settings: How servers are reached and trusted.
    ///   - isDiscretionary: Whether the system may wait for power and a good network.
    ///   - answerBytes: The maximum length in bytes of a response to an upload. The response is kept in memory while it
    ///     arrives. A longer response fails with ``ErrandHTTP/TransportFailure/Kind/tooLarge``.
    /// - Throws: ``URLSessionSettings/Invalid`` if a setting is invalid or not supported.
    public init(
      identifier: String, settings: URLSessionSettings = URLSessionSettings(), isDiscretionary: Bool = false,
      answerBytes: Int = 32 << 20
    ) throws(URLSessionSettings.Invalid) {
      self.identifier = identifier
      self.isDiscretionary = isDiscretionary
      self.answerBytes = answerBytes
      setup = try SessionSetup(settings, .current)
    }

    /// Creates the session of the system. After that, the session reports its events to `report`.
    public func begin(_ report: @escaping @Sendable (BackgroundEvent) -> Void) {
      let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
      setup.settings.apply(to: configuration, patience: SessionOrder.backgroundPatience)
      configuration.isDiscretionary = isDiscretionary
      configuration.sessionSendsLaunchEvents = true
      let queues = SessionQueues()
      let router = BackgroundRouter(report, setup.trust, queues, UploadResponses(limit: answerBytes))
      let made = URLSession(configuration: configuration, delegate: router, delegateQueue: queues.callbackQueue)
      session.withLock { $0 = made }
    }

    /// Starts a download or an upload. The task has the name of the order.
    /// - Throws: ``ErrandHTTP/TransportFailure`` if URLSession cannot send exactly this request, or if ``begin(_:)``
    ///   was not called.
    public func start(_ order: BackgroundOrder) throws {
      let (request, file) = try order.parts(.current)
      guard let session = session.withLock({ $0 }) else {
        throw TransportFailure(.unsupported, "The background session has not begun; call `begin` before `start`.")
      }
      let task: URLSessionTask =
        if let file {
          session.uploadTask(with: request, fromFile: file)
        } else {
          session.downloadTask(with: request)
        }
      task.taskDescription = order.name
      task.resume()
    }

    /// Cancels the task with the given name.
    public func cancel(_ name: String) {
      session.withLock { $0 }?.getAllTasks { tasks in
        for task in tasks where task.taskDescription == name { task.cancel() }
      }
    }

    /// The names of the tasks that have not ended.
    public func names() async -> Set<String> {
      Set(await session.withLock { $0 }?.allTasks.compactMap(\.taskDescription) ?? [])
    }
  }

  /// The delegate of a background session. It forwards URLSession's events.
  private final class BackgroundRouter: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
    private let report: @Sendable (BackgroundEvent) -> Void
    private let trust: SessionTrust
    private let queues: SessionQueues
    private let responses: UploadResponses
    /// The failures of tasks that the library has found: the server is not trusted, the response is too large, or its
    /// URL cannot be used. URLSession reports such a task as cancelled or finished.
    private let refusals = Locked<[Int: TransportFailure]>([:])

    init(
      _ report: @escaping @Sendable (BackgroundEvent) -> Void, _ trust: SessionTrust, _ queues: SessionQueues,
      _ responses: UploadResponses
    ) {
      self.responses = responses
      self.report = report
      self.trust = trust
      self.queues = queues
    }

    func urlSession(
      _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
      totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
      guard let name = downloadTask.taskDescription else { return }
      let total = totalBytesExpectedToWrite >= 0 ? totalBytesExpectedToWrite : nil
      report(.progress(name: name, bytes: totalBytesWritten, total: total))
    }

    func urlSession(
      _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
      guard let name = downloadTask.taskDescription else { return }
      do throws(TransportFailure) {
        let response = try BackgroundResponse(downloadTask.response)
        report(.arrived(name: name, file: location, head: response.head, url: response.url))
      } catch {
        refusals.withLock { $0[downloadTask.taskIdentifier] = error }
      }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      guard let name = task.taskDescription else { return }
      let total = totalBytesExpectedToSend >= 0 ? totalBytesExpectedToSend : nil
      report(.progress(name: name, bytes: totalBytesSent, total: total))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      guard let refusal = responses.add(data, to: dataTask.taskIdentifier) else { return }
      refusals.withLock { $0[dataTask.taskIdentifier] = refusal }
      dataTask.cancel()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      let refusal = refusals.withLock { $0.removeValue(forKey: task.taskIdentifier) }
      defer { responses.drop(task.taskIdentifier) }
      guard let name = task.taskDescription else { return }
      let failure = refusal ?? (error == nil ? uploaded(task, name) : nil)
      report(.ended(name: name, BackgroundEnd(error, task.origin, refusal: failure)))
    }

    /// Reports the response to an upload. Returns a failure if the response cannot be stored or has no usable URL.
    private func uploaded(_ task: URLSessionTask, _ name: String) -> TransportFailure? {
      guard task is URLSessionUploadTask else { return nil }
      do throws(TransportFailure) {
        let response = try BackgroundResponse(task.response)
        return responses.withFile(of: task.taskIdentifier) { file in
          report(.arrived(name: name, file: file, head: response.head, url: response.url))
        }
      } catch {
        return error
      }
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { report(.allReported) }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let (space, identifier) = (challenge.protectionSpace, task.taskIdentifier)
      guard let origin = task.origin else { return completionHandler(.cancelAuthenticationChallenge, nil) }
      queues.runTrustCheck { [self] in
        switch trust.answer(to: PlatformChallenge(space: space), for: origin) {
        case .platform: completionHandler(.performDefaultHandling, nil)
        case .trust: completionHandler(.useCredential, space.serverTrust.map { URLCredential(trust: $0) })
        case .show(let identity): completionHandler(.useCredential, identity.credential)
        case .refuse(let failure):
          refusals.withLock { $0[identifier] = failure }
          completionHandler(.cancelAuthenticationChallenge, nil)
        }
      }
    }
  }

  extension URLSessionTask {
    /// The origin of the task's first request.
    fileprivate var origin: HTTPURL.Origin? {
      originalRequest?.url.flatMap(HTTPURL.init(reported:))?.origin
    }
  }
#endif
