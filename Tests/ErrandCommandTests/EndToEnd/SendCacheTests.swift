import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandCommand

struct SendCacheTests {
  private let folder: String
  private let cleaner: Cleaner

  /// Removes the folder after the test.
  private final class Cleaner: Sendable {
    let place: URL
    init(_ place: URL) { self.place = place }
    deinit { try? FileManager.default.removeItem(at: place) }
  }

  init() {
    let place = FileManager.default.temporaryDirectory.appending(path: "errand-kept-\(UUID().uuidString)")
    cleaner = Cleaner(place)
    folder = place.appending(path: "store").path(percentEncoded: false)
  }

  private func send(_ words: String...) async throws -> BuiltCommand.Run {
    try await BuiltCommand.run(["send", "--cache", folder] + words)
  }

  /// A server that counts its requests and sets the freshness of its responses.
  private func counting(_ control: String = "max-age=600") throws -> LoopbackServer {
    let counter = TurnCounter()
    return try LoopbackServer { _ in .ok("\(counter.next())").setting("Cache-Control", to: control) }
  }

  @Test func `a fresh response is served again`() async throws {
    let server = try counting()
    #expect(try await send(server.url).text == "1")
    let again = try await send(server.url, "-v")
    #expect(again.status == 0 && again.text == "1" && server.requests.count == 1)
    #expect(again.error.contains("= HTTP/1.1 200 OK\n") && again.error.contains("= Age: "))
    #expect(again.error.contains("* from the cache, fresh: The stored response is fresh for "))
    #expect(again.error.contains("* Cache-Status: Errand; hit; ttl="))
    #expect(try await BuiltCommand.run(["send", server.url]).text == "2")
  }

  @Test func `a miss states its reason`() async throws {
    let server = try counting()
    let run = try await send(server.url, "-v")
    #expect(
      run.error.contains(
        "* from the server: The request was sent to the server: nothing is stored for this request.\n"))
    #expect(run.error.contains("* Cache-Status: Errand; fwd=miss; fwd-status=200; stored; detail=missing\n"))
  }

  @Test(arguments: [
    ("declared", "1", 1), ("ignore", "2", 2), ("without", "2", 2), ("revalidate", "2", 2), ("cached", "1", 1),
    ("only", "1", 1), ("offline", "2", 2),
  ])
  func `each mode reads as documented`(mode: String, body: String, requests: Int) async throws {
    let server = try counting()
    _ = try await send(server.url)
    let run = try await send(server.url, "--mode", mode)
    #expect(run.status == 0 && run.text == body && server.requests.count == requests)
  }

  @Test(arguments: [("ignore", "2"), ("without", "1")])
  func `modes differ in what they store`(mode: String, kept: String) async throws {
    let server = try counting()
    _ = try await send(server.url)
    _ = try await send(server.url, "--mode", mode)
    #expect(try await send(server.url, "--mode", "only").text == kept)
  }

  @Test func `an empty cache has its exit status`() async throws {
    let server = try counting()
    let run = try await send(server.url, "--mode", "only", "-v")
    #expect(run.status == ExitCode.notStored.rawValue && run.output.isEmpty && server.requests.isEmpty)
    #expect(run.error.contains("errand: Nothing is stored for this request; send the request once"))
    #expect(
      run.error.contains(
        "* from neither the server nor the cache: No response was served: nothing is stored for this request.\n"))
  }

  @Test func `another account's response is a miss`() async throws {
    let server = try counting()
    _ = try await send(server.url, "--bearer", "a")
    #expect(try await send(server.url, "--bearer", "a", "--mode", "only").text == "1")
    let run = try await send(server.url, "--bearer", "b", "--mode", "only")
    #expect(run.status == 66 && run.error == "errand: The stored response belongs to another account; load it again.\n")
  }

  @Test func `offline mode serves the stored response`() async throws {
    let server = try counting("max-age=0")
    _ = try await send(server.url)
    server.stop()
    #expect(try await send(server.url).status == 7)
    let run = try await send(server.url, "--mode", "offline", "-v")
    #expect(run.status == 0 && run.text == "1" && run.error.contains("* from the cache, stale: "))
  }

  @Test func `a lifetime caches any method`() async throws {
    let server = try counting("no-cache")
    for _ in 0..<2 { #expect(try await send("POST", server.url, "a=1", "--lifetime", "1h").text == "1") }
    #expect(try await send("POST", server.url, "a=2", "--lifetime", "1h").text == "2")
    #expect(try await send("POST", server.url, "a=1").text == "3")
  }

  @Test func `no-store responses are not stored`() async throws {
    let server = try counting("no-store")
    for body in ["1", "2"] { #expect(try await send(server.url, "--lifetime", "1h").text == body) }
  }

  @Test func `a revalidated response is served`() async throws {
    let server = try LoopbackServer { request in
      let fields: LoopbackHeaders = ["ETag": "\"a\"", "Cache-Control": "no-cache"]
      return request.headers["If-None-Match"] == "\"a\""
        ? .status(304, headers: fields) : .status(200, headers: fields, body: "body")
    }
    _ = try await send(server.url)
    let run = try await send(server.url, "-v")
    #expect(run.text == "body" && run.error.contains("< HTTP/1.1 304") && run.error.contains("= HTTP/1.1 200"))
    #expect(run.error.contains("* from the cache, revalidated: The server confirmed the stored response.\n"))
  }

  @Test func `a refresh ends before the process`() async throws {
    let server = try counting("max-age=0, stale-while-revalidate=600")
    #expect(try await send(server.url).text == "1")
    #expect(try await send(server.url).text == "1")
    #expect(server.requests.count == 2)
    #expect(try await send(server.url, "--mode", "only").text == "2")
  }

  @Test func `an interrupt ends the refresh`() async throws {
    let (counter, gate) = (TurnCounter(), Gate())
    let server = try LoopbackServer { _ in
      let answer = LoopbackAnswer.ok("body").setting("Cache-Control", to: "max-age=0, stale-while-revalidate=600")
      return counter.next() == 1 ? answer : answer.stalled(after: 2, until: gate)
    }
    #expect(try await send(server.url).text == "body")
    let start = ContinuousClock.now
    let run = try await BuiltCommand.run(["send", "--cache", folder, server.url]) { process in
      try await gate.reached()
      process.interrupt()
    }
    // Without the interrupt, the refresh would end with the idle time-out, after a minute.
    #expect(ContinuousClock.now - start < .seconds(40))
    // The refresh may start before the stored response is printed.
    #expect(run.status == 0 && run.text == "body" || run.status == 130)
    #expect(try await send(server.url, "--mode", "only").text == "body")
  }

  @Test func `a damaged store is replaced`() async throws {
    let server = try counting()
    #expect(try await send(server.url).text == "1")
    try Data(repeating: 0x41, count: 40_000).write(to: URL(filePath: folder + "/errand-cache.sqlite"))
    // A journal that a busy machine left would restore the pages.
    try? FileManager.default.removeItem(atPath: folder + "/errand-cache.sqlite-wal")
    #expect(try await BuiltCommand.run(["cache", "list", folder]).status == 72)
    #expect(try await send(server.url).text == "2")
    #expect(try await send(server.url, "--mode", "only").text == "2")
  }

  @Test(arguments: [
    (68, "contains the index of another program; use another folder."),
    (60, "contains a store of another version of Errand"),
  ])
  func `a foreign store is not changed`(offset: UInt64, clause: String) async throws {
    let server = try counting()
    _ = try await send(server.url)
    let index = URL(filePath: folder + "/errand-cache.sqlite")
    // The last user of the store writes the rest of the log into the index when it closes the store.
    #expect(try await BuiltCommand.run(["cache", "clear", folder, "--tag", "none"]).status == 0)
    let file = try FileHandle(forUpdating: index)
    try file.seek(toOffset: offset)
    try file.write(contentsOf: [0, 0, 0, 99])
    try file.close()
    let before = try Data(contentsOf: index)
    let run = try await send(server.url, "--mode", "ignore")
    #expect(run.status == 72 && run.error.contains(clause) && server.requests.count == 1)
    #expect(try Data(contentsOf: index) == before)
  }

  /// Runs the command with a file size limit that is too small for the index of a store, like a full disk.
  private func limited(_ words: [String]) async throws -> BuiltCommand.Run {
    // The signal of the limit is ignored, so that the write fails.
    let script = "trap '' XFSZ && ulimit -f 8 && exec \"$0\" \"$@\""
    let errand = try BuiltProgram("errand").path
    // The limit would truncate a coverage profile, too.
    return try await BuiltProgram(at: URL(filePath: "/bin/sh")).run(
      ["-c", script, errand] + words, environment: ["LLVM_PROFILE_FILE": "/dev/null"])
  }

  @Test func `a full disk does not fail the call`() async throws {
    let server = try counting()
    #expect(try await send(server.url).text == "1")
    let cause = "“\(folder)” cannot be used: \(String(cString: strerror(EFBIG))).\n"
    let run = try await limited(["send", "--cache", folder, server.url])
    #expect(run.status == 0 && run.text == "2", "\(run.error)")
    #expect(run.error == "errand: The request is sent without the cache: \(cause)")
    for words in [["send", "--mode", "only", "--cache", folder, server.url], ["cache", "list", folder]] {
      let refused = try await limited(words)
      #expect(refused.status == 72 && refused.error == "errand: \(cause)", "\(refused.error)")
    }
    #expect(try await send(server.url).text == "1" && server.requests.count == 2)
  }

  @Test func `a stored response is written to a file`() async throws {
    let server = try counting()
    let file = cleaner.place.appending(path: "film").path(percentEncoded: false)
    for _ in 0..<2 { #expect(try await send(server.url, "-o", file).status == 0) }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "1" && server.requests.count == 1)
  }

  @Test func `the cache folder has mode 0700`() async throws {
    let server = try counting()
    #expect(try await send(server.url).status == 0)
    let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
    #expect(mode == 0o700)
  }

  @Test func `a folder with other files is rejected`() async throws {
    let server = try counting()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: URL(filePath: folder + "/letter"))
    let run = try await send(server.url)
    #expect(run.status == 72 && run.output.isEmpty && server.requests.isEmpty)
    #expect(run.error == "errand: “\(folder)” contains other files; a store needs an empty or a new folder.\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["letter"])
  }

  @Test func `an unusable cache folder is named`() async throws {
    let server = try counting()
    let file = try await BuiltCommand.run(["send", "--cache", "/dev/null", server.url])
    #expect(file.status == 72 && file.error.hasPrefix("errand: “/dev/null” is not a folder; name a folder"))
    let nowhere = try await BuiltCommand.run(["send", "--cache", "/dev/null/x", server.url])
    #expect(nowhere.status == 72 && nowhere.error.hasPrefix("errand: “/dev/null/x” is not a folder;"))
    let made = try await BuiltCommand.run(["send", "--cache", "/proc/no/such", server.url])
    #expect(made.status == 72 && made.error.hasPrefix("errand: “/proc/no/such” cannot be created: "))
    #expect(server.requests.isEmpty)
  }
}
