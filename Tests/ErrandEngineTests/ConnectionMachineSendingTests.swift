#if os(Linux)
  import ErrandHTTP
  import Testing

  @testable import ErrandEngine

  /// The progress of sending a request, and how an early response changes it.
  struct ConnectionMachineSendingTests {
    private static func machine(_ remainder: ConnectionMachine.Remainder) -> ConnectionMachine {
      var machine = ConnectionMachine()
      _ = machine.submit(limits: ResponseLimits(), isHeadRequest: false, remainder: remainder)
      machine.wrote(100)
      return machine
    }

    private static func feed(_ text: String, to machine: inout ConnectionMachine) throws {
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let used = try rest.withUnsafeBytes { try machine.receive($0) }.used
        rest = rest.dropFirst(used)
      }
    }

    private static func response(_ status: Int) -> String { "HTTP/1.1 \(status) x\r\nContent-Length: 0\r\n\r\n" }

    @Test func `a request without a body is finished after its headers`() {
      var machine = Self.machine(.nothing)
      #expect(machine.sending == .head)
      machine.wroteHead()
      #expect(machine.sending == .finished)
    }

    @Test func `a body follows the headers`() throws {
      var machine = Self.machine(.body)
      machine.wroteHead()
      #expect(machine.sending == .body)
      machine.wroteBody()
      #expect(machine.sending == .finished)
      try Self.feed(Self.response(200), to: &machine)
      #expect(machine.finish() == true)
    }

    @Test func `a body waits for status 100`() throws {
      var machine = Self.machine(.bodyAfterContinue)
      machine.wroteHead()
      #expect(machine.sending == .awaitingContinue)
      try Self.feed("HTTP/1.1 102 x\r\n\r\n", to: &machine)
      #expect(machine.sending == .awaitingContinue)
      try Self.feed("HTTP/1.1 100 Continue\r\n\r\n", to: &machine)
      #expect(machine.sending == .body)
    }

    @Test func `a body is sent after the wait for status 100`() {
      var machine = Self.machine(.bodyAfterContinue)
      machine.wroteHead()
      machine.proceed()
      #expect(machine.sending == .body)
      machine.wroteBody()
      machine.proceed()
      #expect(machine.sending == .finished)
    }

    @Test func `status 100 begins no other body`() {
      var unsent = Self.machine(.bodyAfterContinue)
      unsent.proceed()
      #expect(unsent.sending == .head)
      var abandoned = Self.machine(.bodyAfterContinue)
      abandoned.wroteHead()
      abandoned.abandonRequest()
      abandoned.proceed()
      #expect(abandoned.sending == .abandoned)
    }

    @Test func `a forbidden body closes the connection`() throws {
      var machine = Self.machine(.nothing)
      machine.wroteHead()
      try Self.feed("HTTP/1.1 204 x\r\nContent-Length: 3\r\n\r\n", to: &machine)
      #expect(machine.isWhole && machine.finish() == false)
    }

    @Test func `a response that is not whole closes the connection`() throws {
      for text in ["", "HTTP/1.1 200 x\r\n", "HTTP/1.1 200 x\r\nContent-Length: 3\r\n\r\nab"] {
        var machine = Self.machine(.nothing)
        machine.wroteHead()
        try Self.feed(text, to: &machine)
        #expect(machine.finish() == false && machine.phase == .closed)
      }
    }

    @Test(arguments: [200, 417, 500])
    func `a final response instead of status 100 ends the request`(status: Int) throws {
      var machine = Self.machine(.bodyAfterContinue)
      machine.wroteHead()
      try Self.feed(Self.response(status), to: &machine)
      #expect(machine.sending == .abandoned && machine.isWhole)
      #expect(machine.finish() == false && machine.phase == .closed)
    }

    @Test(arguments: [(200, ConnectionMachine.Sending.body), (302, .body), (400, .abandoned), (503, .abandoned)])
    func `an early error response ends the body`(status: Int, sending: ConnectionMachine.Sending) throws {
      var machine = Self.machine(.body)
      machine.wroteHead()
      try Self.feed(Self.response(status), to: &machine)
      #expect(machine.sending == sending)
      #expect(machine.finish() == false, "the rest of the request is not on the wire")
    }

    @Test func `an early response keeps the connection if the body was sent completely`() throws {
      var machine = Self.machine(.body)
      machine.wroteHead()
      try Self.feed("HTTP/1.1 200 x\r\nContent-Length: 1\r\n\r\n", to: &machine)
      machine.wroteBody()
      try Self.feed("x", to: &machine)
      #expect(machine.finish() == true)
    }

    @Test func `a response is read after a failed write`() throws {
      var machine = Self.machine(.body)
      machine.wroteHead()
      machine.abandonRequest()
      try Self.feed("HTTP/1.1 413 x\r\nContent-Length: 2\r\n\r\nno", to: &machine)
      #expect(machine.isWhole && machine.head.status == 413)
      #expect(machine.ended(isReset: true) == .response)
    }

    /// A server that rejects an upload resets the connection after its response, so the response counts.
    @Test(arguments: [
      (413, true, true, ConnectionMachine.Ending.response), (413, false, true, .inBody), (200, true, true, .inBody),
      (200, true, false, .response), (413, false, false, .response),
    ])
    func `a reset ends only a rejected upload`(
      status: Int, isUpload: Bool, isReset: Bool, ending: ConnectionMachine.Ending
    ) throws {
      var machine = Self.machine(isUpload ? .body : .nothing)
      machine.wroteHead()
      try Self.feed("HTTP/1.1 \(status) x\r\n\r\npart", to: &machine)
      if isUpload { machine.abandonRequest() }
      #expect(machine.ended(isReset: isReset) == ending)
    }

    @Test func `a second exchange starts with a fresh state`() throws {
      var machine = Self.machine(.nothing)
      machine.wroteHead()
      try Self.feed("HTTP/1.1 200 x\r\nConnection: x\r\nContent-Length: 2\r\n\r\nok", to: &machine)
      #expect(machine.finish() == true && machine.phase == .idle)
      #expect(machine.submit(limits: ResponseLimits(), isHeadRequest: true, remainder: .nothing) == true)
      #expect(machine.bytesWritten == 0 && machine.bytesReceived == 0 && !machine.hasBegun && !machine.isWhole)
      #expect(machine.submit(limits: ResponseLimits(), isHeadRequest: false, remainder: .nothing) == false)
    }
  }
#endif
