#if os(Linux)
  import ErrandHTTP
  import Testing

  @testable import ErrandEngine

  /// Every event of a connection, in every order.
  struct ConnectionMachineOrderTests {
    enum Event: CaseIterable, Sendable {
      case submit, writtenPart, written, firstBytes, lastBytes, end, reset, abort, deadline
    }

    /// How an exchange ended.
    enum Outcome: Equatable { case response(isKept: Bool), unsent, lost, stopped }

    /// A connection and the state that its caller keeps about the exchange.
    struct Model {
      static let first = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no".utf8)
      static let last = Array("k".utf8)

      var machine = ConnectionMachine()
      var isUnderWay = false
      var hasWritten = false
      var isWritten = false
      /// True if the first half of the current exchange's response has arrived.
      var hasFirst = false
      /// How the exchanges ended, in order.
      var outcomes: [Outcome] = []
      var fault: String?

      mutating func apply(_ event: Event) {
        let wasClosed = machine.phase == .closed
        switch event {
        case .submit: submit()
        case .writtenPart: if isUnderWay, !isWritten { write(isWhole: false) }
        case .written: if isUnderWay, !isWritten { write(isWhole: true) }
        case .firstBytes: receive(Self.first)
        case .lastBytes: receive(Self.last)
        case .end, .reset: end(isReset: event == .reset)
        case .abort, .deadline: if isUnderWay { finish(.stopped) }
        }
        if wasClosed, machine.phase != .closed { fault = "a closed connection was opened again" }
        if machine.phase == .busy, !isUnderWay { fault = "busy without an exchange" }
        if machine.phase != .busy, isUnderWay { fault = "an exchange without a connection" }
      }

      private mutating func submit() {
        let wasIdle = machine.phase == .idle
        let isTaken = machine.submit(limits: ResponseLimits(), isHeadRequest: false, remainder: .nothing)
        if isTaken != wasIdle { fault = "a connection that is not idle took an exchange" }
        guard isTaken else { return }
        (isUnderWay, hasWritten, isWritten, hasFirst) = (true, false, false, false)
      }

      private mutating func write(isWhole: Bool) {
        machine.wrote(1)
        hasWritten = true
        isWritten = isWhole
        if isWhole { machine.wroteHead() }
      }

      private mutating func receive(_ bytes: [UInt8]) {
        let isAsked = isUnderWay && hasWritten
        var used = 0
        while used < bytes.count {
          do {
            let (step, count) = try bytes[used...].withUnsafeBytes { try machine.receive($0) }
            used += count
            if (step == .unasked) == isAsked { fault = "unexpected bytes were not recognised" }
            if step == .unasked { return end(isReset: false) }
          } catch {
            return finish(.lost)
          }
        }
        if bytes == Self.first { hasFirst = true }
        if machine.isWhole, isUnderWay {
          let isKept = machine.finish()
          if isKept, !isWritten { fault = "kept before the request was written" }
          if !hasFirst { fault = "a response ended before its beginning arrived" }
          finish(.response(isKept: isKept))
        }
      }

      private mutating func end(isReset: Bool) {
        let ending = machine.ended(isReset: isReset)
        switch ending {
        case .idle: if isUnderWay { fault = "an exchange did not end" }
        case .unsent:
          if hasWritten { fault = "called unsent though bytes were written" }
          finish(.unsent)
        case .response, .beforeResponse, .inHead, .inBody:
          if !hasWritten { fault = "not called unsent though nothing was written" }
          finish(.lost)
        }
      }

      private mutating func finish(_ outcome: Outcome) {
        if !isUnderWay { fault = "an exchange ended twice" }
        isUnderWay = false
        outcomes.append(outcome)
        if case .response(isKept: true) = outcome { return }
        machine.stop()
      }
    }

    @Test func `every order in which each event occurs once keeps the invariants`() {
      var count = 0
      Self.permute([], Event.allCases, Model(), &count)
      #expect(count == 362_880)
    }

    @Test func `every sequence of five events keeps the invariants`() {
      var rows: [([Event], Model)] = [([], Model())]
      for _ in 0..<5 {
        rows = rows.flatMap { events, model in
          Event.allCases.map { event in
            var next = model
            next.apply(event)
            if let fault = next.fault { Issue.record("\(events + [event]): \(fault)") }
            return (events + [event], next)
          }
        }
      }
      #expect(rows.count == 59_049)
    }

    @Test(
      arguments: [
        ([.submit, .written, .firstBytes, .lastBytes, .submit], [.response(isKept: true)], .busy),
        ([.submit, .writtenPart, .firstBytes, .lastBytes], [.response(isKept: false)], .closed),
        ([.submit, .end], [.unsent], .closed), ([.submit, .firstBytes], [.unsent], .closed),
        ([.submit, .written, .reset], [.lost], .closed), ([.submit, .written, .firstBytes, .end], [.lost], .closed),
        ([.firstBytes], [], .closed), ([.end], [], .closed),
        ([.submit, .written, .firstBytes, .lastBytes, .firstBytes], [.response(isKept: true)], .closed),
        ([.submit, .written, .abort], [.stopped], .closed),
      ] as [([Event], [Outcome], ConnectionMachine.Phase)])
    func `a sequence of events has the expected result`(
      events: [Event], outcomes: [Outcome], phase: ConnectionMachine.Phase
    ) {
      var model = Model()
      for event in events { model.apply(event) }
      #expect(model.fault == nil && model.outcomes == outcomes && model.machine.phase == phase)
    }

    /// Applies the remaining events in every order, starting from the state after `before`.
    private static func permute(_ before: [Event], _ left: [Event], _ model: Model, _ count: inout Int) {
      guard !left.isEmpty else {
        count += 1
        return
      }
      for (place, event) in left.enumerated() {
        var next = model
        next.apply(event)
        if let fault = next.fault { Issue.record("\(before + [event]): \(fault)") }
        var rest = left
        rest.remove(at: place)
        permute(before + [event], rest, next, &count)
      }
    }
  }
#endif
