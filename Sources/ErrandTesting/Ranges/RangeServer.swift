import ErrandCore
import ErrandSupport

/// A ``LoopbackServer`` with one file of any size, which honours, ignores or lies about ranges.
///
/// How it answers is said for each request by its number, so that it can break off the first, change the file behind
/// the third, or be honest throughout:
///
/// ```swift
/// let file = RangeResource(size: 8 << 20)
/// let server = try RangeServer { number in
///   RangeBehaviour(file) { if number == 1 { $0.fault = .cut(after: 3 << 20) } }
/// }
/// ```
///
/// With signed addresses the file's own address redirects to one that holds for some requests and is then answered
/// with 403. Ask the file's own again for another.
package final class RangeServer: Sendable {
  /// Says how the request of a number, from 1, is answered. Only requests that reach the file are counted.
  package typealias Plan = @Sendable (_ number: Int) -> RangeBehaviour

  private let core: Core
  /// The server underneath: its connections, and the requests in full.
  package let loopback: LoopbackServer

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - signedUses: For how many requests a signed address holds; nil for a file without signatures.
  ///   - plan: Says how each request is answered. Called on the connection's thread.
  /// - Throws: ``LoopbackError/system(call:code:)`` when no port can be had.
  package init(signedUses: Int? = nil, plan: @escaping Plan) throws {
    let core = Core(signedUses: signedUses, plan: plan)
    self.core = core
    var options = LoopbackOptions()
    options.sendBuffer = 64 << 10
    loopback = try LoopbackServer(options) { core.answer($0) }
  }

  /// Starts a server that answers every request alike.
  package convenience init(_ behaviour: RangeBehaviour) throws {
    try self.init { _ in behaviour }
  }

  /// The file's own address.
  package var url: String { loopback.url + Core.path }

  /// Answers otherwise from the next request on; the numbers go on.
  package func answer(by plan: @escaping Plan) { core.setPlan(plan) }

  /// Closes the port and every connection, ends the threads and returns when that is done.
  package func stop() { loopback.stop() }

  // MARK: What was seen

  /// The requests so far, each noted before its answer began.
  package var requests: [RangeRequest] { core.observed.value.requests }

  /// How many bytes of the file were handed to the system so far, framing of the content included. Of an exchange that
  /// breaks off, at most about 128 KiB of them have not left the machine.
  package var servedBytes: Int { core.observed.value.servedBytes }

  /// Returns once so many bytes of the file were served in all.
  ///
  /// - Throws: ``LoopbackError/notReached(_:within:)`` when `bound` has passed, `CancellationError` when the task is
  ///   cancelled.
  package func served(atLeast count: Int, within bound: Duration = .seconds(30)) async throws {
    try await core.observed.wait(for: "\(count) bytes served", within: bound) { $0.servedBytes >= count }
  }

  /// Returns once so many requests have come in all, redirected ones included. Throws as ``served(atLeast:within:)``.
  package func received(_ count: Int, within bound: Duration = .seconds(30)) async throws {
    try await core.observed.wait(for: "\(count) requests", within: bound) { $0.requests.count >= count }
  }
}

extension RangeServer {
  /// What the server's threads share.
  private final class Core: Sendable {
    struct Record: Sendable {
      var requests: [RangeRequest] = []
      var servedBytes = 0
      /// How many requests have reached the file.
      var count = 0
      /// How often each signed address was used, by its number from 1.
      var uses: [Int] = []
    }

    /// What is to be done with a request by its path alone.
    enum Route {
      case file(number: Int)
      case answer(LoopbackAnswer, status: Int)
    }

    static let path = "/file.bin"
    let observed = Observed(Record())
    private let signedUses: Int?
    private let plan: Locked<Plan>

    init(signedUses: Int?, plan: @escaping Plan) {
      self.signedUses = signedUses
      self.plan = Locked(plan)
    }

    func setPlan(_ plan: @escaping Plan) { self.plan.withLock { $0 = plan } }

    func answer(_ request: RecordedRequest) -> LoopbackAnswer {
      switch route(request.path) {
      case .answer(let answer, let status):
        note(RangeRequest(request, number: nil, status: status, piece: nil))
        return answer
      case .file(let number):
        let made = RangeAnswer(to: request, plan.withLock { $0 }(number))
        note(RangeRequest(request, number: number, status: made.status, piece: made.piece))
        guard made.piece != nil else { return made.answer }
        return made.answer.tallied { [observed] count in observed.update { $0.servedBytes += count } }
      }
    }

    private func note(_ request: RangeRequest) {
      observed.update { $0.requests.append(request) }
    }

    private func route(_ path: String) -> Route {
      guard let signedUses else { return path == Self.path ? nextFile() : .answer(.status(404), status: 404) }
      if path == Self.path { return sign() }
      return observed.update { record in
        let signature = path.split(separator: "/").first.flatMap { Int($0) } ?? 0
        guard record.uses.indices.contains(signature - 1) else { return .answer(.status(404), status: 404) }
        record.uses[signature - 1] += 1
        guard record.uses[signature - 1] <= signedUses else {
          return .answer(.status(403, body: "this address has expired\n"), status: 403)
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
      return .answer(.redirect(to: "/\(number)\(Self.path)"), status: 302)
    }
  }
}

/// One request as a ``RangeServer`` answered it.
package struct RangeRequest: Sendable, Equatable {
  /// The place among the requests that reached the file, from 1; nil for one that was redirected or had a signature
  /// that no longer held.
  package let number: Int?
  /// The path.
  package let path: String
  /// The method.
  package let method: String
  /// What it asked for.
  package let range: String?
  /// On which condition.
  package let ifRange: String?
  /// Which codings it took.
  package let acceptEncoding: String?
  /// The status it was answered with; 0 where the connection was closed instead.
  package let status: Int
  /// Where in the file the content of the answer began and was to end; nil without content of the file.
  package let piece: Range<Int>?

  init(_ request: RecordedRequest, number: Int?, status: Int, piece: Range<Int>?) {
    self.number = number
    path = request.path
    method = request.method
    range = request.headers["Range"]
    ifRange = request.headers["If-Range"]
    acceptEncoding = request.headers["Accept-Encoding"]
    self.status = status
    self.piece = piece
  }
}
