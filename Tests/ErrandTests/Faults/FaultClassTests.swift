import Foundation
import Testing

struct FaultClassTests {
  @Test(arguments: FaultClass.all.map(\.name))
  func `every fault has its test`(name: String) throws {
    let fault = try #require(FaultClass.all.first { $0.name == name })
    switch fault.coverage {
    case .issue(let number): #expect((3...8).contains(number))
    case .test(let file, let words):
      let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
      let source = try String(contentsOf: tests.appending(path: file), encoding: .utf8)
      #expect(source.contains(words), "\(file) has nothing about \"\(words)\"")
    }
  }

  @Test func `no fault is listed twice`() {
    #expect(Set(FaultClass.all.map(\.name)).count == FaultClass.all.count)
  }
}
