#if os(Linux)
  import ErrandHTTP
  import ErrandSupport

  /// Asks a resolver for the addresses of one exchange's host, on none of the transport's threads.
  struct CurlResolving {
    /// Where the resolver's task leaves what it found, though nobody may wait for it any more.
    private final class Box: Sendable {
      let answer = Locked<Result<[String], any Error>?>(nil)
    }

    private let exchange: Exchange
    private let host: String
    private let port: Int
    private let isAsked: Bool

    init(_ exchange: Exchange, _ configuration: CurlConfiguration) {
      self.exchange = exchange
      host = exchange.request.url.host
      port = exchange.request.url.origin.port
      let isNumber = host.hasPrefix("[") || CurlAddress(host) != nil
      isAsked =
        !isNumber && configuration.proxy == .none && configuration.unixSocket == nil
        && !configuration.addressOverrides.keys.contains { [host, port] in $0.lowercased() == "\(host):\(port)" }
    }

    /// What the resolver found, as libcurl reads it; nil where it need not be asked. Ends at once when the call is
    /// stopped, and with the connect time-out.
    func addresses(by resolver: any NameResolver) async throws -> String? {
      guard isAsked else { return nil }
      let found = try await answer(of: resolver)
      guard !found.isEmpty else { throw failure("the resolver knows no address of \(host)") }
      guard found.allSatisfy({ CurlAddress($0) != nil }) else {
        throw failure("the resolver gave for \(host) what is no address in numbers")
      }
      // With the plus sign libcurl forgets it in its own time.
      return "+\(host):\(port):\(found.joined(separator: ","))"
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
      let text = CurlFailureText.connectTimeout(exchange.request.url.origin, after: exchange.connectTimeout)
      return TransportFailure(.connectTimeout, text, isCertainlyNotSent: true)
    }

    private func failure(_ text: String) -> TransportFailure {
      TransportFailure(.nameLookup, text.prefix(1).uppercased() + text.dropFirst() + ".", isCertainlyNotSent: true)
    }
  }
#endif
