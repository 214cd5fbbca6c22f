import Errand
import ErrandJSON
import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandRecord

struct FlightFileTests {
  private func numbers(_ url: URL) throws -> [UInt64] { try HTTPArchive(flightFile: url).calls.map(\.number) }

  @Test func `ended call is in the file at once`() async throws {
    let folder = try Folder()
    let bench = try RecordedClient()
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
    for number in 1...3 {
      await bench.call("/\(number)")
      let archive = try HTTPArchive(contentsOf: folder.file)
      #expect(archive.calls.count == number && archive.unreadableLines == 0)
      #expect(archive.calls.last?.url == "\(bench.server.url)/\(number)")
    }
    #expect(file.counts == FlightFile.Counts(written: 3))
    #expect(try numbers(folder.file) == bench.client.flightRecord.calls.map(\.number))
  }

  @Test func `file is private to the user`() async throws {
    let folder = try Folder()
    let file = try FlightFile(
      at: folder.url.appending(path: "new/calls"), recording: try RecordedClient().client.flightRecord)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test func `existing file becomes private to the user`() async throws {
    let folder = try Folder()
    try FlightLines.header.write(to: folder.file)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file.path)
    let file = try FlightFile(at: folder.file, recording: try RecordedClient().client.flightRecord)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test func `permissions of another file stay`() throws {
    let folder = try Folder()
    try Data("precious".utf8).write(to: folder.file)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file.path)
    let record = try RecordedClient().client.flightRecord
    #expect(throws: FlightFileError.self) { try FlightFile(at: folder.file, recording: record) }
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.file.path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o644)
  }

  @Test func `failing rename loses no call before the file is full`() async throws {
    let folder = try Folder()
    let limit = FlightFile.smallestLimit
    let bench = try RecordedClient()
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord, limit: limit)
    // A folder cannot be replaced by a file.
    try FileManager.default.createDirectory(at: folder.older, withIntermediateDirectories: false)
    func size() throws -> Int { try Data(contentsOf: folder.file).count }
    while file.counts.lost == 0, try size() <= limit / 2 { await bench.call() }
    #expect(try size() > limit / 8 * 3 + 2_000, "calls are written after the rename has failed")
    #expect(file.counts.lost == 1 && file.counts.lastFailure?.contains("is full") == true)
    // The lock is free and the file open, so the next call is written as soon as the file can be renamed.
    try FileManager.default.removeItem(at: folder.older)
    await bench.call()
    #expect(file.counts.lost == 1)
    #expect(try HTTPArchive(flightFile: folder.file).calls.count == file.counts.written)
  }

  @Test func `size stays below the limit`() async throws {
    let folder = try Folder()
    let limit = FlightFile.smallestLimit
    let bench = try RecordedClient()
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord, limit: limit)
    for number in 1...200 {
      await bench.call("/\(number)")
      #expect(folder.size < limit)
    }
    #expect(file.counts == FlightFile.Counts(written: 200))
    let kept = try numbers(folder.file)
    #expect(kept.count > 10 && kept == bench.client.flightRecord.calls.suffix(kept.count).map(\.number))
  }

  /// Writes one call to the file, and releases the object that writes.
  private func record(_ bench: RecordedClient, in folder: Folder) async throws {
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
    await bench.call()
    #expect(file.counts.written == 1)
  }

  @Test func `object that is gone writes nothing`() async throws {
    let folder = try Folder()
    let bench = try RecordedClient()
    try await record(bench, in: folder)
    await bench.call()
    #expect(try numbers(folder.file).count == 1)
  }

  @Test func `file is continued by the next run`() async throws {
    let folder = try Folder()
    let bench = try RecordedClient()
    for _ in 1...2 {
      let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
      await bench.call()
      #expect(file.counts.lost == 0)
    }
    let calls = try HTTPArchive(flightFile: folder.file).calls
    #expect(calls.count == 2 && Set(calls.map(\.run)).count == 2)
  }

  @Test func `last lines may be cut at every byte`() async throws {
    let folder = try Folder()
    let bench = try RecordedClient()
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
    await bench.call("/1")
    let first = try Data(contentsOf: folder.file).count
    await bench.call("/2")
    #expect(file.counts.written == 2)
    let whole = try Data(contentsOf: folder.file)
    for length in 1..<whole.count {
      var content = FlightLines.Content()
      try FlightLines.read(whole.prefix(length), into: &content)
      let (entries, unreadable) = (content.entries, content.unreadable)
      let expected = length >= whole.count - 1 ? 2 : length >= first - 1 ? 1 : 0
      #expect(entries.count == expected, "cut at \(length)")
      #expect(unreadable <= 1 && FlightLines.isFlightFile(whole.prefix(length)))
    }
  }

  @Test func `cut line damages no later line`() async throws {
    let folder = try Folder()
    let bench = try RecordedClient()
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
    await bench.call("/1")
    let cut = try Data(contentsOf: folder.file).dropLast(20)
    try Data(cut).write(to: folder.file)
    await bench.call("/2")
    let archive = try HTTPArchive(flightFile: folder.file)
    #expect(archive.unreadableLines == 1 && archive.calls.map(\.url) == ["\(bench.server.url)/2"])
    #expect(file.counts.lost == 0)
  }

  @Test func `large call is shortened`() async throws {
    let folder = try Folder()
    let bench = try RecordedClient(bodyLimit: 1 << 20, detail: .everything) { _ in
      .ok(String(repeating: "a", count: 100_000))
    }
    let file = try FlightFile(
      at: folder.file, recording: bench.client.flightRecord, limit: FlightFile.smallestLimit)
    await bench.call()
    #expect(file.counts == FlightFile.Counts(written: 1, shortened: 1))
    let entry = try #require(try HTTPArchive(flightFile: folder.file).entries.first)
    #expect(entry.response.body == nil && entry.response.bodySize == 100_000)
    await bench.call("/" + String(repeating: "b", count: 9_000))
    #expect(file.counts.lost == 1 && file.counts.lastFailure?.contains("Raise the limit") == true)
  }

  @Test func `deleted folder loses only the record`() async throws {
    let folder = try Folder()
    let bench = try RecordedClient()
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
    try FileManager.default.removeItem(at: folder.url)
    #expect(await bench.client.outcome(of: RecordedClient.Get()).error == nil)
    #expect(file.counts.lost == 1 && file.counts.lastFailure?.contains("No such file") == true)
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    await bench.call()
    #expect(file.counts.written == 1)
    #expect(try numbers(folder.file).count == 1)
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func `device without space is no flight file`() throws {
    let record = try RecordedClient().client.flightRecord
    #expect(throws: FlightFileError.self) { try FlightFile(at: URL(filePath: "/dev/full"), recording: record) }
  }

  @Test func `other file is not overwritten`() throws {
    let folder = try Folder()
    let record = try RecordedClient().client.flightRecord
    try Data("precious".utf8).write(to: folder.file)
    let error = #expect(throws: FlightFileError.self) { try FlightFile(at: folder.file, recording: record) }
    #expect(error?.description.contains("is no flight file") == true)
    #expect(try Data(contentsOf: folder.file) == Data("precious".utf8))
    #expect(throws: FlightFileError.self) { try FlightFile(at: folder.url, recording: record) }
    #expect(throws: FlightFileError.self) { try FlightFile(at: folder.file, recording: record, limit: 100) }
    let large = #expect(throws: FlightFileError.self) {
      try FlightFile(at: folder.url.appending(path: "a"), recording: record, limit: FlightFile.largestLimit + 1)
    }
    #expect(large?.description.contains("use at most 268435456") == true)
  }

  @Test(arguments: 1..<40)
  func `first line that was cut off is written again`(length: Int) async throws {
    let folder = try Folder()
    try FlightLines.header.prefix(length).write(to: folder.file)
    let bench = try RecordedClient()
    for count in 1...2 {
      let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
      await bench.call()
      #expect(file.counts == FlightFile.Counts(written: 1))
      let archive = try HTTPArchive(contentsOf: folder.file)
      #expect(archive.calls.count == count && archive.unreadableLines == 0)
    }
    #expect(try Data(contentsOf: folder.file).starts(with: FlightLines.header))
  }

  /// A full disk cuts off the first line, and the next call is appended to it. A power failure leaves zero bytes.
  @Test(arguments: [Data("{".utf8), Data("{\"format\":\"err".utf8), Data(count: 40), Data(count: 4_096)])
  func `damaged first line ends no file`(start: Data) async throws {
    let folder = try Folder()
    let bench = try RecordedClient()
    try await record(bench, in: folder)
    let rest = try Data(contentsOf: folder.file).dropFirst(FlightLines.header.count)
    try (start + rest).write(to: folder.file)
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
    await bench.call()
    #expect(file.counts == FlightFile.Counts(written: 1))
    let archive = try HTTPArchive(contentsOf: folder.file)
    #expect(archive.calls.count == 2 && archive.unreadableLines == 1)
  }

  @Test(arguments: [1, 64, 10_000])
  func `file of zero bytes is begun again`(length: Int) async throws {
    let folder = try Folder()
    try Data(count: length).write(to: folder.file)
    let bench = try RecordedClient()
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
    await bench.call()
    #expect(file.counts == FlightFile.Counts(written: 1))
    let archive = try HTTPArchive(contentsOf: folder.file)
    #expect(archive.calls.count == 1 && archive.unreadableLines == 0)
  }

  @Test(arguments: [
    "{\n  \"log\": {}\n}\n", "\n{\"a\":1}\n", "{\"format\":\"other\"}\n", "{\n", "\0\0\0image\n{\"a\":1}\n",
  ])
  func `similar file is no flight file`(text: String) throws {
    let folder = try Folder()
    try Data(text.utf8).write(to: folder.file)
    let record = try RecordedClient().client.flightRecord
    #expect(throws: FlightFileError.self) { try FlightFile(at: folder.file, recording: record) }
    #expect(try Data(contentsOf: folder.file) == Data(text.utf8))
    #expect(!FlightLines.isFlightFile(Data(text.utf8)))
  }

  @Test func `file without calls is readable`() throws {
    let folder = try Folder()
    let file = try FlightFile(at: folder.file, recording: try RecordedClient().client.flightRecord)
    #expect(try HTTPArchive(contentsOf: file.url).calls.isEmpty)
  }

  @Test(arguments: [true, false])
  func `older part alone is readable`(isEmpty: Bool) async throws {
    let folder = try Folder()
    let bench = try RecordedClient()
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
    await bench.call()
    // As a process leaves the files that is killed while it renames them.
    try FileManager.default.moveItem(at: folder.file, to: folder.older)
    if isEmpty { try Data().write(to: folder.file) }
    #expect(try HTTPArchive(contentsOf: folder.file).calls.count == 1)
    await bench.call()
    #expect(try HTTPArchive(contentsOf: folder.file).calls.count == 2)
    #expect(file.counts == FlightFile.Counts(written: 2))
  }

  @Test func `missing file is named`() throws {
    let error = #expect(throws: HTTPArchiveError.self) {
      try HTTPArchive(contentsOf: URL(filePath: "/nowhere/calls.flight"))
    }
    #expect(error?.code == .unreadable && error?.description.contains("/nowhere/calls.flight") == true)
  }

  @Test func `last entries are kept`() async throws {
    let folder = try Folder()
    let bench = try RecordedClient()
    let file = try FlightFile(at: folder.file, recording: bench.client.flightRecord)
    for _ in 1...7 { await bench.call() }
    #expect(file.counts.lost == 0)
    let data = try Data(contentsOf: folder.file)
    for most in 1...8 {
      var content = FlightLines.Content()
      try FlightLines.read(data, into: &content, atMost: most)
      #expect(content.entries.count == min(most, 7) && content.omitted == max(0, 7 - most) && content.unreadable == 0)
      #expect(content.entries.last?.details?.call == bench.client.flightRecord.calls.last?.number)
      try FlightLines.read(data, into: &content, atMost: most)
      #expect(content.entries.count == most || most == 8 && content.omitted == 6)
    }
  }

  @Test func `newer version is rejected`() throws {
    let folder = try Folder()
    try Data("{\"format\":\"errand-flight\",\"version\":2}\n".utf8).write(to: folder.file)
    let error = #expect(throws: HTTPArchiveError.self) { try HTTPArchive(contentsOf: folder.file) }
    #expect(error?.path == "version")
  }

  @Test func `several clients write whole calls`() async throws {
    let folder = try Folder()
    let benches = try (0..<4).map { _ in try RecordedClient() }
    let files = try benches.map {
      try FlightFile(at: folder.file, recording: $0.client.flightRecord, limit: 1 << 20)
    }
    await withTaskGroup(of: Void.self) { group in
      for bench in benches {
        group.addTask { for number in 1...25 { await bench.call("/\(number)") } }
      }
    }
    #expect(files.allSatisfy { $0.counts == FlightFile.Counts(written: 25) })
    let archive = try HTTPArchive(flightFile: folder.file)
    #expect(archive.calls.count == 100 && archive.unreadableLines == 0)
  }
}
