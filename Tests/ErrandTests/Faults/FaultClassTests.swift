import Foundation
import Testing

struct FaultClassTests {
  /// The types that start or find a real server. Every test of a fault uses one of them.
  private static let servers = ["LoopbackServer", "RangeServer", "DownloadFixture", "Servers.", "TrustFixture."]

  @Test(arguments: FaultClass.all.map(\.name))
  func `every fault has a test over sockets`(name: String) throws {
    let fault = try #require(FaultClass.all.first { $0.name == name })
    let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
    let source = try String(contentsOf: tests.appending(path: fault.file), encoding: .utf8)
    #expect(source.contains(fault.words), "\(fault.file) has nothing about \"\(fault.words)\"")
    #expect(Self.servers.contains { source.contains($0) }, "\(fault.file) opens no socket")
  }

  @Test func `no fault is listed twice`() {
    #expect(Set(FaultClass.all.map(\.name)).count == FaultClass.all.count)
  }
}
