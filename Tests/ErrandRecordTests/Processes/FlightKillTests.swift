import Errand
import ErrandSupport
import Foundation
import TestSupport
import Testing

@testable import ErrandRecord

/// Processes that are killed while they write a flight file.
struct FlightKillTests {
  /// The processes that have been started.
  private final class Running: Sendable {
    let ids = Locked<[Int32]>([])
  }

  private static let names = ["one", "two", "three"]

  private func paths(_ url: URL, _ name: String) throws -> [Int] {
    try HTTPArchive(flightFile: url).calls.compactMap { call in
      call.url.split(separator: "/\(name)/").last.flatMap { call.url.contains("/\(name)/") ? Int($0) : nil }
    }
  }

  @Test func `killed process loses no ended call`() async throws {
    let folder = try Folder()
    for _ in 1...3 {
      let run = try await BuiltProgram("RecordCrasher").run([folder.file.path, "one", "20", "\(4 << 20)"])
      #expect(run.status == SIGKILL, "\(run.text)")
    }
    let archive = try HTTPArchive(flightFile: folder.file)
    #expect(archive.calls.count == 60 && archive.unreadableLines == 0)
    #expect(try paths(folder.file, "one") == Array(1...20) + Array(1...20) + Array(1...20))
  }

  @Test func `limit of the file size ends no process`() async throws {
    let folder = try Folder()
    let crasher = try BuiltProgram("RecordCrasher").path
    // The shell counts in blocks of 512 or 1,024 bytes. The file may have 20 KB or 40 KB.
    let run = try await BuiltProgram(at: URL(filePath: "/bin/sh")).run(
      ["-c", "ulimit -f 40 && exec \"$0\" \"$@\"", crasher, folder.file.path, "one", "100", "\(4 << 20)"])
    #expect(run.status == SIGKILL && run.text.split(separator: "\n").count == 100, "no call has failed")
    let kept = try paths(folder.file, "one")
    #expect(kept == Array(1...kept.count) && (5..<100).contains(kept.count), "\(kept.count)")
  }

  /// Kills all processes when the file has been renamed and has calls of each of them. They are stopped while this is
  /// decided, so that no process replaces the calls of another.
  private func kill(_ all: [Int32], whenAllWroteTo folder: Folder) async {
    _ = await eventually { FileManager.default.fileExists(atPath: folder.older.path) }
    for _ in 1...50 {
      for process in all { Foundation.kill(process, SIGSTOP) }
      if Self.names.allSatisfy({ (try? paths(folder.file, $0).count) ?? 0 > 3 }) { break }
      let before = folder.newerSize
      for process in all { Foundation.kill(process, SIGCONT) }
      _ = await eventually { abs(folder.newerSize - before) > 20_000 }
    }
    for process in all { Foundation.kill(process, SIGKILL) }
  }

  @Test func `several killed processes keep a readable ring`() async throws {
    let folder = try Folder()
    let limit = 256 << 10
    let running = Running()
    var printed: [String: [Int]] = [:]
    try await withThrowingTaskGroup(of: (String, [Int]).self) { group in
      for name in Self.names {
        group.addTask {
          let run = try await BuiltProgram("RecordCrasher").run([folder.file.path, name, "0", "\(limit)"]) {
            process in
            running.ids.withLock { $0.append(process.processIdentifier) }
            guard name == Self.names[0] else { return }
            _ = await eventually { running.ids.withLock { $0.count } == Self.names.count }
            await kill(running.ids.withLock { $0 }, whenAllWroteTo: folder)
          }
          #expect(run.status == SIGKILL)
          return (name, run.text.split(separator: "\n").compactMap { Int($0) })
        }
      }
      for try await (name, numbers) in group { printed[name] = numbers }
    }
    let archive = try HTTPArchive(flightFile: folder.file)
    #expect(folder.size < limit && archive.calls.count > 20)
    #expect(archive.unreadableLines <= 3, "at most one for each killed process")
    for name in Self.names {
      let kept = try paths(folder.file, name)
      let expected = kept.first.map { Array($0..<($0 + kept.count)) } ?? []
      #expect(kept.count > 3 && kept == expected, "no call between two others is missing")
      // The process is killed before or after it prints the number of its last call.
      let last = try #require(printed[name]?.last)
      #expect(kept.last == last || kept.last == last + 1, "the last call is in the file")
    }
  }
}
