#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Sends the same requests over both transports and compares what callers get. The server makes each response from
  /// the number in the path, so both transports receive the same bytes. The responses include faults of all kinds.
  ///
  /// `ERRAND_DIFFERENTIAL` sets the number of requests. A failure names the number, which reproduces the response.
  struct DifferentialTests {
    private static let count = ProcessInfo.processInfo.environment["ERRAND_DIFFERENTIAL"].flatMap(Int.init) ?? 200
    private static let inFlight = 8

    /// What a caller gets, without the things that may differ: times, connections and texts.
    private struct Result: Equatable, CustomStringConvertible {
      var code: String?
      var status: Int?
      var reason: String?
      var fields: [String]
      var body: Data?
      var isComplete: Bool
      var exchanges: [Int?]

      var description: String {
        "\(code ?? "success"), \(status ?? 0) \(reason ?? ""), \(fields), \(body?.count ?? -1) bytes, "
          + "complete: \(isComplete), statuses: \(exchanges)"
      }

      init(_ outcome: Outcome<Data>) {
        code = outcome.error?.code.rawValue
        let response = outcome.response ?? outcome.error?.response
        status = response?.status
        reason = response?.head.reason
        fields = response?.fields.all.map { "\($0.name): \($0.value)" } ?? []
        body = outcome.value ?? response?.body
        isComplete = outcome.value != nil
        exchanges = outcome.metrics.exchanges.map(\.status)
      }
    }

    /// Sends requests, several at once, and returns the results by number.
    private static func results(
      of numbers: [Int], over carrier: Carrier, _ server: LoopbackServer
    ) async -> [Int: Result] {
      let client = carrier.transport().client(at: server)
      return await withTaskGroup(of: (Int, Result).self) { group in
        var waiting = numbers.makeIterator()
        func add() {
          guard let number = waiting.next() else { return }
          group.addTask { (number, Result(await client.outcome(of: DifferentialCase(number).request))) }
        }
        for _ in 0..<inFlight { add() }
        var results: [Int: Result] = [:]
        for await (number, result) in group {
          results[number] = result
          add()
        }
        return results
      }
    }

    @Test func `both transports give equal results`() async throws {
      let server = try LoopbackServer { request in
        Int(request.path.dropFirst()).map { DifferentialCase($0).response } ?? .ok("the end of a redirect")
      }
      let all = Array(0..<Self.count)
      let curl = await Self.results(of: all, over: .curl, server)
      let engine = await Self.results(of: all, over: .engine, server)
      #expect(curl.count == Self.count && engine.count == Self.count)
      for number in all where curl[number] != engine[number] {
        // The server closes some connections without notice, so a request that must not be repeated may have met a
        // connection that was just closed. It is compared once more, on new connections.
        let curl = await Self.results(of: [number], over: .curl, server)[number]
        let engine = await Self.results(of: [number], over: .engine, server)[number]
        if curl == engine { continue }
        Issue.record(
          """
          \(number): \(DifferentialCase(number).note)
          libcurl: \(curl?.description ?? "no result")
          engine:  \(engine?.description ?? "no result")
          """)
      }
      // Both kinds of outcomes must occur, otherwise the comparison would say little.
      let successes = engine.values.count { $0.code == nil }
      #expect(successes > Self.count / 4 && successes < Self.count * 3 / 4)
    }
  }
#endif
