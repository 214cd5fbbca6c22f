import ErrandCore
import ErrandSupport

/// A ``LoopbackServer`` with one file of any size. It honours or ignores ranges, or sends wrong partial responses.
///
/// A ``Plan`` is a closure that returns the behaviour for each request by the request's number. So the server can, for
/// example, truncate the first response, or change the file after the third request:
///
/// ```swift
/// let file = RangeResource(size: 8 << 20)
/// let server = try RangeServer { number in
///   RangeBehaviour(file) { if number == 1 { $0.fault = .cut(after: 3 << 20) } }
/// }
/// ```
///
/// If signed URLs are used, the URL of the file redirects to a signed URL. A signed URL is valid for a number of
/// requests. After that, the server responds to the signed URL with 403. The next request for the URL of the file gets
/// a new signed URL.
public final class RangeServer: Sendable {
  /// A closure that returns the behaviour for a request by the number of the request. The first request has the number
  /// 1. Requests that are redirected or that have an expired or unknown URL are not counted.
  public typealias Plan = @Sendable (_ number: Int) -> RangeBehaviour

  private let core: Core
  /// The underlying server, which records the connections and all parts of the requests.
  public let loopback: LoopbackServer

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - signedUses: The number of requests for which a signed URL is valid; nil if no signed URLs are used.
  ///   - plan: Returns the behaviour for each request. The closure runs on the connection's thread.
  /// - Throws: ``LoopbackError/system(call:code:)`` if no port is available.
  public init(signedUses: Int? = nil, plan: @escaping Plan) throws {
    let core = Core(signedUses: signedUses, plan: plan)
    self.core = core
    var options = LoopbackOptions()
    options.sendBuffer = 64 << 10
    loopback = try LoopbackServer(options) { core.response(to: $0) }
  }

  /// Starts a server with the same behaviour for every request.
  public convenience init(_ behaviour: RangeBehaviour) throws {
    try self.init { _ in behaviour }
  }

  /// The URL of the file.
  public var url: String { loopback.url + Core.path }

  /// Replaces the closure that returns the behaviour. The new closure is used from the next request on, and the
  /// numbering of the requests continues.
  public func answer(by plan: @escaping Plan) { core.plan.withLock { $0 = plan } }

  /// Closes the port and all connections, and waits until all threads have ended.
  public func stop() { loopback.stop() }

  // MARK: Record

  /// The requests so far. Each request is recorded before its response begins.
  public var requests: [RangeRequest] { core.observed.value.requests }

  /// The number of bytes of the file that were passed to the system, including the framing of the content. If an
  /// exchange is interrupted, up to about 128 KiB of these bytes may not have been sent.
  public var servedBytes: Int { core.observed.value.servedBytes }

  /// Waits until at least `count` bytes of the file have been passed to the system in total.
  ///
  /// - Throws: ``LoopbackError/notReached(_:within:)`` after `bound`; `CancellationError` if the task is cancelled.
  public func served(atLeast count: Int, within bound: Duration = .seconds(30)) async throws {
    try await core.observed.wait(for: "\(count) bytes served", within: bound) { $0.servedBytes >= count }
  }

  /// Waits until the server has received `count` requests in total, including requests that were redirected.
  /// - Throws: ``LoopbackError/notReached(_:within:)`` after `bound`; `CancellationError` if the task is cancelled.
  public func received(_ count: Int, within bound: Duration = .seconds(30)) async throws {
    try await core.observed.wait(for: "\(count) requests", within: bound) { $0.requests.count >= count }
  }
}

extension RangeServer {
  /// The shared state of the server's threads.
  private final class Core: Sendable {
    struct Record: Sendable {
      var requests: [RangeRequest] = []
      var servedBytes = 0
      /// The number of requests for the file so far. Requests that are redirected, or whose URL is expired or unknown,
      /// are not counted.
      var count = 0
      /// The number of requests for each signed URL. The first element is for the signed URL that the server created
      /// first.
      var uses: [Int] = []
    }

    /// The way in which the server responds to a path: with the file, or with a response without the file, such as a
    /// redirect.
    enum Route {
      case file(number: Int)
      case response(LoopbackAnswer, status: Int)
    }

    static let path = "/file.bin"
    let observed = Observed(Record())
    private let signedUses: Int?
    let plan: Locked<Plan>

    init(signedUses: Int?, plan: @escaping Plan) {
      self.signedUses = signedUses
      self.plan = Locked(plan)
    }

    func response(to request: RecordedRequest) -> LoopbackAnswer {
      switch route(request.path) {
      case .response(let answer, let status):
        record(RangeRequest(request, number: nil, status: status, servedRange: nil))
        return answer
      case .file(let number):
        let response = RangeResponse(to: request, plan.withLock { $0 }(number))
        record(RangeRequest(request, number: number, status: response.status, servedRange: response.range))
        guard response.range != nil else { return response.answer }
        return response.answer.tallied { [observed] count in observed.update { $0.servedBytes += count } }
      }
    }

    private func record(_ request: RangeRequest) {
      observed.update { $0.requests.append(request) }
    }

    private func route(_ path: String) -> Route {
      guard let signedUses else { return path == Self.path ? nextFile() : .response(.status(404), status: 404) }
      if path == Self.path { return sign() }
      return observed.update { record in
        let signature = path.split(separator: "/").first.flatMap { Int($0) } ?? 0
        guard record.uses.indices.contains(signature - 1) else { return .response(.status(404), status: 404) }
        record.uses[signature - 1] += 1
        guard record.uses[signature - 1] <= signedUses else {
          return .response(.status(403, body: "this signed URL has expired\n"), status: 403)
        }
        record.count += 1
        return .file(number: record.count)
      }
    }

    private func nextFile() -> Route {
      observed.update { record in
        record.count += 1
        return .file(number: record.count)
      }
    }

    private func sign() -> Route {
      let number = observed.update { record in
        record.uses.append(0)
        return record.uses.count
      }
      return .response(.redirect(to: "/\(number)\(Self.path)"), status: 302)
    }
  }
}

/// One request to a ``RangeServer``, and the response to it.
public struct RangeRequest: Sendable, Equatable {
  /// The number of this request among the requests for the file, counted from 1. The number is nil if the request was
  /// redirected, or if its URL was expired or unknown.
  public let number: Int?
  /// The path of the request.
  public let path: String
  /// The method of the request.
  public let method: String
  /// The value of the field `Range`; nil if the request has no such field.
  public let range: String?
  /// The value of the field `If-Range`; nil if the request has no such field.
  public let ifRange: String?
  /// The value of the field `Accept-Encoding`; nil if the request has no such field.
  public let acceptEncoding: String?
  /// The status of the response; 0 if the connection was closed instead.
  public let status: Int
  /// The range of the file that the response was meant to contain, although a simulated fault may truncate it; nil if
  /// the response contains no bytes of the file.
  public let servedRange: Range<Int>?

  init(_ request: RecordedRequest, number: Int?, status: Int, servedRange: Range<Int>?) {
    self.number = number
    path = request.path
    method = request.method
    range = request.headers["Range"]
    ifRange = request.headers["If-Range"]
    acceptEncoding = request.headers["Accept-Encoding"]
    self.status = status
    self.servedRange = servedRange
  }
}
