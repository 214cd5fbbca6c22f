import ErrandSupport

/// Resolves the addresses of hosts in place of the system. Use it for DNS over HTTPS, for a service registry or in
/// tests.
///
/// ```swift
/// struct Registry: NameResolver {
///   func addresses(of host: String, port: Int) async throws -> [String] { ["192.0.2.7", "2001:db8::7"] }
/// }
/// ```
public protocol NameResolver: Sendable {
  /// The numeric addresses of a host, in the order in which the transport tries them. Called before each exchange, so
  /// an implementation should cache its results. Does not run on a thread of the transport. If the call is stopped, the
  /// task that runs this function is cancelled, and the call does not wait for the result.
  ///
  /// - Throws: An error that explains why there are no addresses; the call fails with
  ///   ``TransportFailure/Kind/nameLookup``.
  func addresses(of host: String, port: Int) async throws -> [String]
}

/// Asks a custom resolver for the addresses of one exchange's host. The resolver does not run on the transport's
/// thread.
package struct ResolverLookup {
  /// Stores the resolver's result in a separate object, because the resolver may end after the exchange has ended.
  private final class Box: Sendable {
    let answer = Locked<Result<[String], any Error>?>(nil)
  }

  private let exchange: Exchange
  private let host: String
  private let port: Int

  package init(_ exchange: Exchange) {
    self.exchange = exchange
    host = exchange.request.url.host
    port = exchange.request.url.origin.port
  }

  /// Returns the addresses from the resolver. Throws if there are no addresses, or if `isAddress` rejects one of them.
  /// Throws at once if the call is stopped or the connect timeout ends.
  package func addresses(
    by resolver: any NameResolver, isAddress: (String) -> Bool
  ) async throws -> [String] {
    let found = try await answer(of: resolver)
    guard !found.isEmpty else { throw failure("the resolver returned no address for \(host)") }
    guard found.allSatisfy(isAddress) else {
      throw failure("the resolver returned an invalid IP address for \(host)")
    }
    return found
  }

  private func answer(of resolver: any NameResolver) async throws -> [String] {
    let box = Box()
    let (host, port) = (host, port)
    let timers = exchange.call.timers
    var task: Task<Void, Never>?
    var timeout: TimerToken?
    do {
      defer { if let timeout { timers.cancel(timeout) } }
      try await exchange.call.wait { wakeup in
        timeout = exchange.connectTimeout.map { limit in
          timers.schedule(at: timers.now.advanced(by: limit)) { wakeup.resume() }
        }
        task = Task {
          let answer: Result<[String], any Error>
          do { answer = .success(try await resolver.addresses(of: host, port: port)) } catch {
            answer = .failure(error)
          }
          box.answer.withLock { $0 = answer }
          wakeup.resume()
        }
      }
    } catch {
      task?.cancel()
      throw error
    }
    guard let answer = box.answer.withLock({ $0 }) else {
      task?.cancel()
      throw tooLate
    }
    do { return try answer.get() } catch { throw failure("the resolver could not resolve \(host): \(error)") }
  }

  private var tooLate: TransportFailure {
    let text = FailureText.connectTimeout(exchange.request.url.origin, after: exchange.connectTimeout)
    return TransportFailure(.connectTimeout, text, isCertainlyNotSent: true)
  }

  private func failure(_ text: String) -> TransportFailure {
    TransportFailure(.nameLookup, text.prefix(1).uppercased() + text.dropFirst() + ".", isCertainlyNotSent: true)
  }
}
