#if canImport(FoundationNetworking)
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  // One child process at a time: a hundred at once would delay every other test.
  @Suite(.serialized) struct URLSessionConformanceTests {
    private static let checks = TransportConformance.every + SessionChecks.all

    @Test(arguments: checks.map(\.name))
    func `checks end as the table says`(name: String) async throws {
      let expected = SessionTable.expected(name)
      var run = try await ProbeRun.end(of: name, within: expected == .hangs ? 4 : 180)
      // The server's reset can overtake its response, so that URLSession cannot read it any more.
      for _ in 1...2 where run.end == .fails && SessionTable.races.contains(name) {
        run = try await ProbeRun.end(of: name, within: 180)
      }
      #expect(run.end == expected, "\(name) \(run.end), and the table says that it \(expected). \(run.output)")
    }

    @Test func `the table names only existing checks`() {
      let names = Set(Self.checks.map(\.name))
      let listed = SessionTable.dies + SessionTable.hangs + SessionTable.lacks + SessionTable.fails
      #expect(listed.filter { !names.contains($0) }.isEmpty)
      #expect(Set(listed).count == listed.count)
    }

    @Test func `an unknown check is reported`() async throws {
      #expect(try await ProbeRun.end(of: "no such check", within: 60).end == .unknown)
    }

    @Test func `the command does not link FoundationNetworking`() throws {
      let words = Data("libFoundationNetworking".utf8)
      #expect(try Data(contentsOf: BuiltProgram("TransportProbe").place).range(of: words) != nil)
      #expect(try Data(contentsOf: BuiltProgram("errand").place).range(of: words) == nil)
    }
  }
#else
  import ErrandCore
  import ErrandURLSession
  import Testing
  import TransportChecks

  /// Runs in this process, unlike on Linux. It has not been run on an Apple platform so far.
  struct URLSessionConformanceTests {
    private static let capabilities = URLSessionTransport().capabilities
    private static let checks = (TransportConformance.every + SessionChecks.all).filter {
      capabilities.isSuperset(of: $0.needs)
    }

    @Test(arguments: checks)
    func `the transport passes its checks`(_ check: TransportConformance.Check) async throws {
      try await check.run(URLSessionTransport())
    }
  }
#endif
