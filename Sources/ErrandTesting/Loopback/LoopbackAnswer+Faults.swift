// Changes of an answer. Each returns a new value; where two set the same thing, the later one counts.

// MARK: - Head

extension LoopbackAnswer {
  /// The answer with a header field set to `value`, or without it when nil; framing fields are not spared.
  public func setting(_ name: String, to value: String?) -> Self {
    changingHead { $0[name] = value }
  }

  /// The answer with a header field more, also when one of that name is there.
  public func adding(_ name: String, _ value: String) -> Self {
    changingHead { $0.add(name, value) }
  }

  /// The answer with another reason phrase; an empty one is sent as empty.
  public func reason(_ text: String) -> Self {
    changingSteps { step in
      guard case .head(let status, _, let headers) = step else { return step }
      return .head(status: status, reason: text, headers: headers)
    }
  }

  /// The answer behind an informational one, such as 103, sent the given number of times.
  public func informational(_ status: Int, headers: LoopbackHeaders = [:], times: Int = 1) -> Self {
    let head = HTTPText.head(status: status, reason: nil, headers: headers)
    return changing { $0.steps.insert(.bytes(head, times: times), at: 0) }
  }
}

// MARK: - Breaking off

extension LoopbackAnswer {
  /// The answer broken off by an orderly close behind `count` bytes, whatever its head has promised.
  ///
  /// With fewer bytes to send than `count`, it closes behind the last of them.
  public func cut(after count: Int, of part: Part = .body) -> Self {
    changing { $0.fault = Fault(after: max(0, count), part: part, step: .close) }
  }

  /// The answer broken off by a reset (RST) behind `count` bytes.
  public func reset(after count: Int, of part: Part = .body) -> Self {
    changing { $0.fault = Fault(after: max(0, count), part: part, step: .reset) }
  }

  /// The answer with the server's sending side closed (FIN) behind `count` bytes and the receiving side open.
  public func halfClosed(after count: Int, of part: Part = .body, until gate: Gate = Gate()) -> Self {
    changing {
      $0.fault = Fault(after: max(0, count), part: part, step: .halfClose)
      $0.steps.append(.wait(gate))
    }
  }

  /// The answer that stops behind `count` bytes and goes on when the gate opens.
  ///
  /// Without a gate it never goes on: the connection stays open until the client leaves or the server stops.
  /// `.ok("x").stalled()` stalls right behind the head.
  public func stalled(after count: Int = 0, of part: Part = .body, until gate: Gate = Gate()) -> Self {
    changing { $0.fault = Fault(after: max(0, count), part: part, step: .wait(gate)) }
  }

  /// The answer with `Connection: close` said and done.
  public func closing() -> Self {
    setting("Connection", to: "close").then(.close)
  }

  /// The answer with the connection closed behind it, without a word about it in the head.
  ///
  /// With a gate the connection first lies idle until the gate opens, as when a server's keep-alive time runs out.
  public func closed(at gate: Gate? = nil) -> Self {
    changing { $0.steps += (gate.map { [.wait($0)] } ?? []) + [.close] }
  }
}

// MARK: - Time

extension LoopbackAnswer {
  /// The answer begun only when the gate lets pass.
  public func held(at gate: Gate) -> Self {
    changing { $0.steps.insert(.wait(gate), at: 0) }
  }

  /// The answer begun only after a time by the clock.
  public func delayed(_ duration: Duration) -> Self {
    changing { $0.steps.insert(.pause(duration), at: 0) }
  }

  /// The answer sent in pieces of `size` bytes with a time by the clock between them.
  public func dripped(_ size: Int = 1, of part: Part = .everything, every interval: Duration) -> Self {
    changing { $0.pace = Pace(size: max(1, size), part: part, between: .pause(interval)) }
  }

  /// The answer sent in pieces of `size` bytes; the gate stands between them, so ``Gate/letPass(_:)`` lets one go.
  public func dripped(_ size: Int = 1, of part: Part = .everything, through gate: Gate) -> Self {
    changing { $0.pace = Pace(size: max(1, size), part: part, between: .wait(gate)) }
  }
}

// MARK: - Too much

extension LoopbackAnswer {
  /// The answer with further steps at its end.
  public func then(_ more: Step...) -> Self {
    changing { $0.steps += more }
  }

  /// The answer with text behind its end, in the same packet as the end where that fits one.
  public func extra(_ text: String) -> Self {
    then(.bytes(Array(text.utf8)))
  }

  /// The answer, and then text that nobody asked for on the idle connection, sent when the gate opens. `sent` is
  /// told when the text is on the wire: `try await sent.reached()`.
  public func unsolicited(_ text: String, at gate: Gate, sent: Gate = Gate()) -> Self {
    then(.wait(gate), .bytes(Array(text.utf8)), .reach(sent))
  }
}

// MARK: - Helpers

extension LoopbackAnswer {
  /// The answer with a listener that is told how many bytes of the content go out, on the connection's thread.
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
