#if os(Linux)
  import ErrandCore
  import Testing

  @testable import ErrandCurl

  /// The actions that the inbox requests from its callers, including the loop's thread.
  struct CurlInboxTests {
    private static func moment(_ nanoseconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: nanoseconds) }

    private let loop = CurlLoop(CurlConfiguration(), .standard)

    private func command() throws -> CurlCommand {
      .abort(CurlTransfer(Exchange(request: try HTTPRequest(url: "https://example.com/")), loop: loop))
    }

    @Test func `thread that failed to start is retried`() throws {
      let command = try command()
      var inbox = CurlInbox()
      #expect(inbox.push(command) == .startThread)
      #expect(inbox.push(command) == .nothing)
      let (commands, fallbackTime) = inbox.abandon()
      #expect(commands.count == 2 && fallbackTime == nil)
      #expect(inbox.push(command) == .startThread)
    }

    @Test func `closed inbox starts no thread`() throws {
      let command = try command()
      var inbox = CurlInbox()
      _ = inbox.schedule(at: Self.moment(10)) {}
      #expect(inbox.close() == .nothing)
      #expect(inbox.abandon().fallbackTime == nil)
      #expect(inbox.push(command) == .refuse)
    }

    @Test func `timers without a thread use a fallback`() {
      var inbox = CurlInbox()
      #expect(inbox.schedule(at: Self.moment(20)) {}.1 == .startThread)
      #expect(inbox.popFallbackTimer(Self.moment(20)) == nil, "the loop's thread runs the timers")
      #expect(inbox.abandon().fallbackTime == Self.moment(20))
      #expect(inbox.schedule(at: Self.moment(30)) {}.1 == .startThread)
      #expect(inbox.abandon().fallbackTime == nil, "a fallback timer already covers this moment")
      #expect(inbox.schedule(at: Self.moment(10)) {}.1 == .startThread)
      #expect(inbox.abandon().fallbackTime == Self.moment(10))
      for count in [2, 1] {
        #expect(inbox.popFallbackTimer(Self.moment(20)) != nil)
        #expect(inbox.timers.count == count)
      }
      #expect(inbox.popFallbackTimer(Self.moment(20)) == nil, "the timer is not due")
      #expect(inbox.endFallback() == .startThread)
      #expect(inbox.abandon().fallbackTime == Self.moment(30))
    }

    @Test func `cancelled timer starts no thread`() {
      var inbox = CurlInbox()
      let (token, _) = inbox.schedule(at: Self.moment(20)) {}
      _ = inbox.abandon()
      #expect(inbox.timers.remove(token) != nil)
      #expect(inbox.endFallback() == .nothing)
    }
  }
#endif
