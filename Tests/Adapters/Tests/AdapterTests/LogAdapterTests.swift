import Errand
import ErrandAdapters
import ErrandTesting
import Foundation
import Logging
import Testing

struct LogAdapterTests {
  private struct Line: Sendable, Equatable {
    let level: Logging.Logger.Level
    let text: String
    let call: String?
  }

  private final class Lines: Sendable {
    let all = Guarded<[Line]>([])
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logging.Logger.Metadata = [:]
    var logLevel = Logging.Logger.Level.debug

    subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let line = Line(
        level: event.level, text: "\(event.message)", call: event.metadata?["call"].map { "\($0)" })
      lines.all.withLock { $0.append(line) }
    }
  }

  @Test func `lines of a call are logged with its number`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let lines = Lines()
    var configuration = ClientConfiguration(baseURL: server.url)
    // swift-log starts with the level `info`.
    var logger = Logger(label: "test") { _ in Handler(lines: lines) }
    logger.logLevel = .debug
    configuration.log = LogLine.writing(to: logger)
    _ = try await APIClient(configuration).get("/notes?token=s3cret", as: Data.self)
    let seen = lines.all.withLock { $0 }
    #expect(seen.count >= 3)
    #expect(seen.allSatisfy { $0.level == .debug && $0.call != nil })
    #expect(Set(seen.map(\.call)).count == 1)
    #expect(seen.contains { $0.text.contains("/notes") })
    #expect(!seen.contains { $0.text.contains("s3cret") })
  }
}
