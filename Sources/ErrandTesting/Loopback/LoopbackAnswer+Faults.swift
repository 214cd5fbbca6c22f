// Each function in this file returns a changed copy of a ``LoopbackAnswer``. If two calls set the same property, the
// later call counts.

// MARK: - Headers

extension LoopbackAnswer {
  /// The response with a header field set to `value`, or without the field if `value` is nil. Fields that frame the
  /// message, such as `Content-Length`, can be changed, too.
  public func setting(_ name: String, to value: String?) -> Self {
    changingHead { $0[name] = value }
  }

  /// The response with an additional header field, even if the response already has a field of this name.
  public func adding(_ name: String, _ value: String) -> Self {
    changingHead { $0.add(name, value) }
  }

  /// The response with the given reason phrase, which may be empty.
  public func reason(_ text: String) -> Self {
    changingSteps { step in
      guard case .head(let status, _, let headers) = step else { return step }
      return .head(status: status, reason: text, headers: headers)
    }
  }

  /// The response, preceded by an informational response, such as 103. The informational response is sent `times`
  /// times.
  public func informational(_ status: Int, headers: LoopbackHeaders = [:], times: Int = 1) -> Self {
    let head = HTTPText.head(status: status, reason: nil, headers: headers)
    return changing { $0.steps.insert(.bytes(head, times: times), at: 0) }
  }
}

// MARK: - Truncation

extension LoopbackAnswer {
  /// The response, truncated after `count` bytes: the server then closes the connection in an orderly way (FIN). The
  /// header fields still announce the full length.
  ///
  /// If the response has fewer than `count` bytes, the connection closes after the last byte.
  public func cut(after count: Int, of part: Part = .body) -> Self {
    changing { $0.fault = Fault(after: max(0, count), part: part, step: .close) }
  }

  /// The response, truncated after `count` bytes: the server then resets the connection (RST).
  public func reset(after count: Int, of part: Part = .body) -> Self {
    changing { $0.fault = Fault(after: max(0, count), part: part, step: .reset) }
  }

  /// The response, truncated after `count` bytes: the server then closes only its sending side (FIN). The rest of the
  /// response is dropped, and the receiving side stays open at least until the gate opens.
  public func halfClosed(after count: Int, of part: Part = .body, until gate: Gate = Gate()) -> Self {
    changing {
      $0.fault = Fault(after: max(0, count), part: part, step: .halfClose)
      $0.steps.append(.wait(gate))
    }
  }

  /// The response, which stops after `count` bytes and continues when the gate opens.
  ///
  /// If no gate is given, the response never continues: the connection stays open until the client closes it or the
  /// server stops. `.ok("x").stalled()` stalls immediately after the headers.
  public func stalled(after count: Int = 0, of part: Part = .body, until gate: Gate = Gate()) -> Self {
    changing { $0.fault = Fault(after: max(0, count), part: part, step: .wait(gate)) }
  }

  /// The response with `Connection: close`. The server closes the connection after the response.
  public func closing() -> Self {
    setting("Connection", to: "close").then(.close)
  }

  /// The response, after which the server closes the connection. No field `Connection: close` announces the close.
  ///
  /// If a gate is given, the connection is idle until the gate opens. A test can use the gate to simulate a server
  /// whose keep-alive timeout expires.
  public func closed(at gate: Gate? = nil) -> Self {
    changing { $0.steps += (gate.map { [.wait($0)] } ?? []) + [.close] }
  }
}

// MARK: - Time

extension LoopbackAnswer {
  /// The response, delayed until the gate lets the connection pass.
  public func held(at gate: Gate) -> Self {
    changing { $0.steps.insert(.wait(gate), at: 0) }
  }

  /// The response, delayed by a duration in real time.
  public func delayed(_ duration: Duration) -> Self {
    changing { $0.steps.insert(.pause(duration), at: 0) }
  }

  /// The response, sent in pieces of `size` bytes. Between two pieces, the server waits for `interval` in real time.
  public func dripped(_ size: Int = 1, of part: Part = .everything, every interval: Duration) -> Self {
    changing { $0.pace = Pace(size: max(1, size), part: part, between: .pause(interval)) }
  }

  /// The response, sent in pieces of `size` bytes. Between two pieces, the server waits at the gate.
  /// ``Gate/letPass(_:)`` releases one piece.
  public func dripped(_ size: Int = 1, of part: Part = .everything, through gate: Gate) -> Self {
    changing { $0.pace = Pace(size: max(1, size), part: part, between: .wait(gate)) }
  }
}

// MARK: - Excess data

extension LoopbackAnswer {
  /// The response with additional steps, which the server executes after the existing steps of the response.
  public func then(_ more: Step...) -> Self {
    changing { $0.steps += more }
  }

  /// The response, followed by text that is not part of the response. The server sends the text in the same packet as
  /// the end of the response if the packet has enough space.
  public func extra(_ text: String) -> Self {
    then(.bytes(Array(text.utf8)))
  }

  /// The response, followed by text that no request asked for. The text is sent on the idle connection when `gate`
  /// opens. After the text is sent, the server arrives at the gate `sent`. A test can wait for this arrival with
  /// `try await sent.reached()`.
  public func unsolicited(_ text: String, at gate: Gate, sent: Gate = Gate()) -> Self {
    then(.wait(gate), .bytes(Array(text.utf8)), .reach(sent))
  }
}

// MARK: - Helpers

extension LoopbackAnswer {
  /// The response with a closure that counts its content bytes. After each write to the socket, the closure receives
  /// the number of written content bytes. It runs on the connection's thread.
  func tallied(by tally: @escaping @Sendable (Int) -> Void) -> Self {
    changing { $0.tally = tally }
  }

  private func changing(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }

  private func changingSteps(_ change: (Step) -> Step) -> Self {
    changing { $0.steps = $0.steps.map(change) }
  }

  private func changingHead(_ change: (inout LoopbackHeaders) -> Void) -> Self {
    changingSteps { step in
      guard case .head(let status, let reason, var headers) = step else { return step }
      change(&headers)
      return .head(status: status, reason: reason, headers: headers)
    }
  }
}
