import ErrandTesting
import Foundation
import TestSupport
import Testing

struct DownloadTests {
  private static let content = RangeResource(size: 3 << 20)

  private func check(_ bytes: Data, _ content: RangeResource = Self.content) {
    #expect(bytes.count == content.size && content.firstDifference(bytes) == nil)
  }

  @Test func `a file arrives under its name`() async throws {
    let server = try RangeServer(RangeBehaviour(Self.content))
    try await DownloadFolder.with { folder async throws in
      let run = try await folder.download(server.url, "-d", folder.file("new"))
      #expect(run.status == 0 && run.output.isEmpty, "\(run.error)")
      check(try folder.bytes("new/file.bin"))
      #expect(try folder.names() == ["new"])
      let lines = run.error.split(separator: "\n")
      #expect(
        lines.first == "file.bin: starts, 3.0 MiB" && lines.last?.hasPrefix("file.bin: done, 3.0 MiB in ") == true)
    }
  }

  @Test func `an interrupt keeps the part`() async throws {
    let gate = Gate()
    let server = try RangeServer { number in
      RangeBehaviour(Self.content) { if number == 1 { $0.fault = .stall(after: 1 << 20, until: gate) } }
    }
    try await DownloadFolder.with { folder async throws in
      let file = folder.file("film")
      let first = try await folder.download(server.url, "-o", file) { process in
        try await gate.reached()
        process.interrupt()
      }
      #expect(first.status == 130 && first.error.contains("\nfilm: stopped, "))
      let advice = "The received bytes are kept; the same command resumes the download."
      #expect(first.error.hasSuffix(" kept\n\(advice)\n"))
      #expect(try folder.names() == ["film.part", "film.part.meta"])
      let second = try await folder.download("-c", "-d", folder.path)
      #expect(second.status == 0 && second.error.contains("film: resumes at "), "\(second.error)")
      #expect(second.error.contains("kept from an earlier run"))
      check(try folder.bytes("film"))
      // Bytes that were in transit to the first process are fetched twice; on a busy machine these are many.
      #expect(try folder.names() == ["film"] && server.servedBytes < Self.content.size + (1 << 20))
      #expect(server.requests.last?.ifRange == Self.content.entityTag)
    }
  }

  @Test(arguments: [true, false])
  func `the server names a resumed download`(saysURL: Bool) async throws {
    let server = try RangeServer { number in
      RangeBehaviour(Self.content) {
        $0.fields["Content-Disposition"] = "attachment; filename=\"film.mp4\""
        if number < 5 { $0.fault = .cut(after: 1 << 19) }
      }
    }
    try await DownloadFolder.with { folder async throws in
      let first = try await folder.download(server.url, "-J", "-d", folder.path)
      #expect(first.status == 56, "\(first.error)")
      // The names start with a hash of the URL.
      #expect(try folder.names().map { $0.suffix(14) } == ["-file.bin.part", ".bin.part.meta"])
      let words = saysURL ? [server.url, "-J"] : []
      let second = try await BuiltCommand.run(["download", "-c", "-d", folder.path] + words)
      #expect(second.status == 0 && second.error.contains("kept from an earlier run"), "\(second.error)")
      check(try folder.bytes("film.mp4"))
      #expect(try folder.names() == ["film.mp4"])
    }
  }

  @Test func `a server's name replaces no file`() async throws {
    let server = try RangeServer(
      RangeBehaviour(Self.content) { $0.fields["Content-Disposition"] = "attachment; filename=\"film.mp4\"" })
    try await DownloadFolder.with { folder async throws in
      try Data("mine".utf8).write(to: folder.url.appending(path: "film.mp4"))
      let refused = try await folder.download("-J", server.url, "-d", folder.path)
      #expect(refused.status != 0 && refused.error.contains("film.mp4"), "\(refused.error)")
      #expect(try folder.bytes("film.mp4") == Data("mine".utf8))
      let asked = try await folder.download("-J", "--replace", server.url, "-d", folder.path)
      #expect(asked.status == 0, "\(asked.error)")
      check(try folder.bytes("film.mp4"))
    }
  }

  @Test func `a file with the URL's name is not the download`() async throws {
    let server = try RangeServer(
      RangeBehaviour(Self.content) { $0.fields["Content-Disposition"] = "attachment; filename=\"film.mp4\"" })
    try await DownloadFolder.with { folder async throws in
      try Data("old".utf8).write(to: folder.url.appending(path: "file.bin"))
      let run = try await folder.download("-c", "-J", server.url, "-d", folder.path)
      #expect(run.status == 0, "\(run.error)")
      check(try folder.bytes("film.mp4"))
      #expect(try folder.bytes("file.bin") == Data("old".utf8))
    }
  }

  @Test func `a complete file is kept`() async throws {
    let server = try RangeServer(RangeBehaviour(Self.content))
    try await DownloadFolder.with { folder async throws in
      try Data("old".utf8).write(to: folder.url.appending(path: "file.bin"))
      let run = try await folder.download("-c", server.url, "-d", folder.path)
      #expect(run.status == 0 && run.error == "file.bin: done, 3 bytes, already there\n")
      let sum = String(repeating: "0", count: 64)
      let other = try await folder.download("-c", server.url, "-d", folder.path, "--sha256", sum)
      #expect(other.status == 65 && server.requests.count == 1)
      #expect(try folder.names() == ["file.bin"] && folder.bytes("file.bin") == Data("old".utf8))
    }
  }

  @Test func `the checksum applies after a restart`() async throws {
    let server = try RangeServer { number in
      RangeBehaviour(Self.content) { if number < 5 { $0.fault = .cut(after: 1 << 19) } }
    }
    try await DownloadFolder.with { folder async throws in
      let sum = String(repeating: "0", count: 64)
      let first = try await folder.download(server.url, "-d", folder.path, "--sha256", sum)
      #expect(first.status == 56 && first.error.contains("file.bin: failed, 2.0 MiB kept"))
      let second = try await folder.download("-c", "-d", folder.path)
      #expect(second.status == 65 && second.error.contains("but 0000"), "\(second.error)")
      #expect(try folder.names() == [])
      for (words, place) in [(["-d", folder.path], ""), (["-o", folder.file("film")], " of “film”")] {
        let run = try await BuiltCommand.run(["download", "-c"] + words)
        #expect(run.status == 66 && run.error.contains("no interrupted download\(place) in “"), "\(run.error)")
        #expect(run.error.contains(folder.url.lastPathComponent), "\(run.error)")
      }
    }
  }

  @Test func `a download without URL is skipped with a message`() async throws {
    let server = try RangeServer { number in
      RangeBehaviour(Self.content) { if number < 9 { $0.fault = .cut(after: 1 << 19) } }
    }
    try await DownloadFolder.with { folder async throws in
      #expect(try await folder.download(server.url, "-o", folder.file("a"), "--resource", "film").status == 56)
      #expect(try await folder.download(server.url, "-o", folder.file("b")).status == 56)
      let run = try await folder.download("-c", "-d", folder.path)
      #expect(run.status == 64 && run.error.contains("“a” was started with --resource"), "\(run.error)")
      check(try folder.bytes("b"))
      #expect(try folder.names() == ["a.part", "a.part.meta", "b"])
      let alone = try await folder.download("-c", "-d", folder.path)
      #expect(alone.status == 64 && alone.error.contains("“a” was started with --resource"), "\(alone.error)")
    }
  }

  @Test func `several files have one exit status`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/lost" ? .status(404, body: "no") : .generated(count: 100_000)
    }
    try await DownloadFolder.with { folder async throws in
      let run = try await folder.download(
        server.url + "/a", server.url + "/lost", server.url + "/b", "-d", folder.path, "--files", "1")
      #expect(run.status == 22)
      #expect(run.error.hasSuffix("errand: lost: The server answered 404 Not Found; expected 200–299.\n"))
      #expect(try folder.names() == ["a", "b"] && folder.bytes("b").count == 100_000)
      let twice = try await folder.download(server.url + "/x/a", server.url + "/y/a", "-d", folder.path)
      #expect(twice.status == 64 && twice.error.contains("Two of the URLs give the file name “a”"))
    }
  }

  @Test func `a rate limit is shared by all files`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 250_000) }
    try await DownloadFolder.with { folder async throws in
      let start = ContinuousClock.now
      let run = try await folder.download(
        server.url + "/a", server.url + "/b", "-d", folder.path, "--limit-rate", "400000")
      #expect(run.status == 0, "\(run.error)")
      #expect(try folder.names() == ["a", "b"])
      // The burst, a tenth of a second's bytes, is free, and so is the last piece of each connection.
      #expect(ContinuousClock.now - start >= .milliseconds(700))
    }
  }

  @Test(arguments: [false, true])
  func `an expired link is renewed`(byPage: Bool) async throws {
    let server = try RangeServer { number in
      RangeBehaviour(Self.content) { if number == 1 { $0.fault = .status(403) } }
    }
    let page = try LoopbackServer { _ in .ok("\n \(server.url)?sig=2 \nmore\n") }
    try await DownloadFolder.with { folder async throws in
      let refresh = byPage ? page.url : #"echo "$ERRAND_URL?sig=2""#
      let run = try await folder.download(server.url, "-o", folder.file("f"), "--refresh", refresh)
      #expect(run.status == 0, "\(run.error)")
      check(try folder.bytes("f"))
      #expect(server.loopback.requests.map(\.target) == ["/file.bin", "/file.bin?sig=2"])
    }
  }

  @Test func `a refresh command may print much`() async throws {
    let server = try LoopbackServer { request in request.path == "/new" ? .ok("film") : .status(403) }
    try await DownloadFolder.with { folder async throws in
      let command = "echo \(server.url)/new; head -c 200000 /dev/zero | tr '\\0' x"
      let run = try await folder.download(server.url + "/f", "-o", folder.file("f"), "--refresh", command)
      #expect(run.status == 0, "\(run.error)")
      #expect(try folder.bytes("f") == Data("film".utf8))
    }
  }

  @Test func `a link that cannot be renewed is reported`() async throws {
    let server = try LoopbackServer { _ in .status(403) }
    try await DownloadFolder.with { folder async throws in
      let run = try await folder.download(server.url + "/f", "-d", folder.path, "--refresh", "exit 3")
      let sentence = "errand: The command of --refresh failed with status 3; correct it, so that it prints the new URL."
      #expect(run.status == 1 && run.error.contains(sentence), "\(run.error)")
      #expect(try folder.names() == [])
    }
  }

  @Test func `a signal ends a refresh command`() async throws {
    let server = try LoopbackServer { _ in .status(403) }
    try await DownloadFolder.with { folder async throws in
      let command = "kill -TERM $$; echo \(server.url)/new"
      let run = try await folder.download(server.url + "/f", "-d", folder.path, "--refresh", command)
      #expect(run.status == 1 && run.error.contains("The command of --refresh was ended by signal"), "\(run.error)")
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["sleep 300", "trap '' TERM; sleep 300 | cat"])
  func `the time-out ends a refresh command`(command: String) async throws {
    let server = try LoopbackServer { _ in .status(403) }
    try await DownloadFolder.with { folder async throws in
      let run = try await folder.download(
        server.url + "/f", "-d", folder.path, "--resource", "f", "--refresh", command, "--timeout", "1")
      #expect(run.status == 28, "\(run.status) \(run.error)")
    }
  }

  @Test func `a folder is not a finished file`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    try await DownloadFolder.with { folder async throws in
      try FileManager.default.createDirectory(atPath: folder.file("docs"), withIntermediateDirectories: false)
      let run = try await folder.download(server.url + "/docs", "-c", "-d", folder.path)
      #expect(run.status == 73, "\(run.status) \(run.error)")
    }
  }

  @Test func `the old file's permissions are kept`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    try await DownloadFolder.with { folder async throws in
      #expect(
        FileManager.default.createFile(atPath: folder.file("f"), contents: nil, attributes: [.posixPermissions: 0o600]))
      let run = try await folder.download(server.url + "/f", "-o", folder.file("f"))
      let mode = try FileManager.default.attributesOfItem(atPath: folder.file("f"))[.posixPermissions] as? Int
      #expect(run.status == 0 && mode == 0o600, "\(run.error)")
    }
  }

  @Test func `failures have their own exit statuses`() async throws {
    let port = try RefusingPort()
    let server = try RangeServer(RangeBehaviour(Self.content))
    try await DownloadFolder.with { folder async throws in
      func status(_ url: String, _ words: String...) async throws -> Int32 {
        try await BuiltCommand.run(["download", url, "-q"] + words).status
      }
      try Data("old".utf8).write(to: folder.url.appending(path: "file.bin"))
      #expect(try await status("127.0.0.1:\(port.port)/f", "-d", folder.path) == 7)
      #expect(try await status("http://name.invalid/f", "-d", folder.path) == 6)
      #expect(try await status(server.url, "-d", folder.path, "-n") == 73)
      #expect(try await status(server.url, "-o", "/no/such/folder/f") == 23)
      #expect(try await status(server.url, "-o", "/dev/null") == 64)
      #expect(try await status(server.url, "-o", folder.path) == 64)
      #expect(try await status(server.url, "-d", folder.file("file.bin")) == 23)
      let inFile = try await folder.download(server.url, "-d", folder.file("file.bin") + "/d")
      #expect(inFile.status == 23 && inFile.error.contains("cannot be created or used: Not a directory."))
      #expect(try await status("127.0.0.1:\(port.port)/", "-d", folder.path) == 64)
      #expect(try folder.bytes("file.bin") == Data("old".utf8))
    }
  }

  @Test func `resuming creates no folder`() async throws {
    try await DownloadFolder.with { folder async throws in
      for words in [["-d", folder.file("none")], ["-o", folder.file("none/film")]] {
        let run = try await BuiltCommand.run(["download", "-c"] + words)
        #expect(run.status == 66 && run.error.contains("There is no interrupted download"), "\(run.error)")
      }
      #expect(try folder.names() == [])
    }
  }

  @Test func `a second download fails at once`() async throws {
    let gate = Gate()
    let server = try RangeServer { number in
      RangeBehaviour(Self.content) { if number == 1 { $0.fault = .stall(after: 1 << 20, until: gate) } }
    }
    try await DownloadFolder.with { folder async throws in
      let first = try await folder.download(server.url, "-d", folder.path) { _ in
        try await gate.reached()
        let second = try await folder.download(server.url, "-d", folder.path)
        #expect(second.status == 75 && second.error.contains("another download uses the file"), "\(second.error)")
        #expect(second.error.hasSuffix(" Use --wait to wait for the other download.\n"), "\(second.error)")
        #expect(!second.error.contains("kept"), "\(second.error)")
        gate.open()
      }
      #expect(first.status == 0)
      check(try folder.bytes("file.bin"))
    }
  }

  @Test func `a symbolic link is followed`() async throws {
    let server = try RangeServer(RangeBehaviour(Self.content))
    try await DownloadFolder.with { folder async throws in
      try Data("old".utf8).write(to: folder.url.appending(path: "real"))
      try FileManager.default.createSymbolicLink(
        at: folder.url.appending(path: "link"), withDestinationURL: folder.url.appending(path: "real"))
      #expect(try await folder.download(server.url, "-o", folder.file("link")).status == 0)
      check(try folder.bytes("real"))
      #expect(try folder.names() == ["link", "real"])
    }
  }
}
