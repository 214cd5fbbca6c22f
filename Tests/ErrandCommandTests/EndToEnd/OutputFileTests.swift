import ErrandTesting
import Foundation
import TestSupport
import Testing

struct OutputFileTests {
  /// Creates an empty folder, and removes it afterwards.
  private func inFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-out-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  private func names(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test func `a complete body becomes the file`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 3_000_000) }
    try await inFolder { folder async throws in
      let file = folder.appending(path: "film")
      let run = try await BuiltCommand.run(["send", server.url, "-o", file.path])
      #expect(run.status == 0 && run.output.isEmpty)
      #expect(try Data(contentsOf: file).count == 3_000_000)
      #expect(try names(in: folder) == ["film"])
    }
  }

  @Test func `a validated body is written too`() async throws {
    let server = try LoopbackServer { _ in .json("[1]") }
    try await inFolder { folder async throws in
      let file = folder.appending(path: "list")
      let words = ["send", server.url, "-o", file.path, "--shape", #"["number"]"#]
      #expect(try await BuiltCommand.run(words).status == 0)
      #expect(try String(contentsOf: file, encoding: .utf8) == "[1]")
    }
  }

  @Test(
    arguments: [
      (LoopbackAnswer.status(404, body: "no such film"), 22, "no such film"),
      (LoopbackAnswer.ok("half of it").cut(after: 4), 1, ""),
    ] as [(LoopbackAnswer, Int32, String)])
  func `a failure keeps the old file`(answer: LoopbackAnswer, status: Int32, shown: String) async throws {
    let server = try LoopbackServer { _ in answer }
    try await inFolder { folder async throws in
      let file = folder.appending(path: "film")
      try Data("old".utf8).write(to: file)
      let run = try await BuiltCommand.run(["send", server.url, "-o", file.path])
      #expect(run.status == status && run.text == shown)
      #expect(try String(contentsOf: file, encoding: .utf8) == "old")
      #expect(try names(in: folder) == ["film"])
    }
  }

  @Test func `an interrupt leaves no file`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("half of it").stalled(after: 4, until: gate) }
    try await inFolder { folder async throws in
      let file = folder.appending(path: "film")
      let run = try await BuiltCommand.run(["send", server.url, "-o", file.path]) { process in
        try await gate.reached()
        process.interrupt()
      }
      #expect(run.status == 130 && run.error == "errand: The call was cancelled.\n")
      #expect(try names(in: folder) == [])
    }
  }

  @Test func `a pipe without a reader can be interrupted`() async throws {
    try await inFolder { folder async throws in
      let pipe = folder.appending(path: "pipe")
      #expect(mkfifo(pipe.path, 0o600) == 0)
      let command = try TerminalRun(errand: "send", "h.invalid", "-o", pipe.path)
      try command.interrupt()
      #expect(await command.finish() == -SIGINT)
    }
  }

  @Test(arguments: [0o600, 0o640, 0o444]) func `the file's permissions are kept`(mode: Int) async throws {
    let server = try LoopbackServer { _ in .ok("new") }
    try await inFolder { folder async throws in
      let file = folder.appending(path: "token")
      try Data("old".utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      #expect(try await BuiltCommand.run(["send", server.url, "-o", file.path]).status == 0)
      #expect(try String(contentsOf: file, encoding: .utf8) == "new")
      let kept = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
      #expect((kept as? NSNumber)?.intValue == mode)
    }
  }

  @Test func `a device is not replaced`() async throws {
    let server = try LoopbackServer { _ in .ok("gone") }
    #expect(try await BuiltCommand.run(["send", server.url, "-o", "/dev/null"]).status == 0)
    var status = stat()
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
  }

  @Test func `a link keeps its target`() async throws {
    let server = try LoopbackServer { _ in .ok("new") }
    try await inFolder { folder async throws in
      let (file, link) = (folder.appending(path: "film"), folder.appending(path: "link"))
      try Data("old".utf8).write(to: file)
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
      #expect(try await BuiltCommand.run(["send", server.url, "-o", link.path]).status == 0)
      #expect(try String(contentsOf: file, encoding: .utf8) == "new")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == file.path)
    }
  }

  @Test(arguments: ["send", "download"]) func `a link to a missing file stays`(command: String) async throws {
    let server = try LoopbackServer { _ in .ok("new") }
    try await inFolder { folder async throws in
      let (file, link) = (folder.appending(path: "films/film"), folder.appending(path: "link"))
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "next")
      try FileManager.default.createSymbolicLink(
        atPath: folder.appending(path: "next").path, withDestinationPath: "films/film")
      let run = try await BuiltCommand.run([command, server.url, "-o", link.path])
      #expect(run.status == 0, "\(run.error)")
      #expect(try String(contentsOf: file, encoding: .utf8) == "new")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "next")
      #expect(try names(in: folder) == ["films", "link", "next"])
    }
  }

  @Test(arguments: ["send", "download"]) func `a folder after a link is the real one`(command: String) async throws {
    let server = try LoopbackServer { _ in .ok("new") }
    try await inFolder { folder async throws in
      let real = folder.appending(path: "real/sub")
      try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: folder.appending(path: "link").path, withDestinationPath: "real/sub")
      let run = try await BuiltCommand.run([command, server.url, "-o", folder.path + "/link/../film"])
      #expect(run.status == 0, "\(run.error)")
      #expect(try String(contentsOf: folder.appending(path: "real/film"), encoding: .utf8) == "new")
      #expect(try names(in: folder) == ["link", "real"])
    }
  }

  @Test func `a download folder after a link is the real one`() async throws {
    let server = try LoopbackServer { _ in .ok("new") }
    try await inFolder { folder async throws in
      try FileManager.default.createDirectory(
        at: folder.appending(path: "real/sub"), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: folder.appending(path: "link").path, withDestinationPath: "real/sub")
      let run = try await BuiltCommand.run(["download", server.url + "/film", "-d", folder.path + "/link/../films"])
      #expect(run.status == 0, "\(run.error)")
      #expect(try String(contentsOf: folder.appending(path: "real/films/film"), encoding: .utf8) == "new")
      #expect(try names(in: folder) == ["link", "real"])
    }
  }

  @Test(arguments: ["send", "download"], ["films/", "films/../film"])
  func `a missing folder is an error`(command: String, path: String) async throws {
    let server = try LoopbackServer { _ in .ok("new") }
    try await inFolder { folder async throws in
      let run = try await BuiltCommand.run([command, server.url, "-o", "\(folder.path)/\(path)"])
      #expect(run.status != 0 && !run.error.isEmpty)
      #expect(try names(in: folder).isEmpty)
    }
  }

  @Test func `a loop of links is named`() async throws {
    try await inFolder { folder async throws in
      let link = folder.appending(path: "link").path
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "link")
      let run = try await BuiltCommand.run(["send", "h.invalid", "-o", link])
      #expect(run.status == 1 && run.error.contains("“\(link)” cannot be written: "), "\(run.error)")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "link")
    }
  }

  @Test func `a dash means standard output`() async throws {
    let server = try LoopbackServer { _ in .ok("body") }
    let run = try await BuiltCommand.run(["send", server.url, "-o", "-"])
    #expect(run.status == 0 && run.text == "body", "\(run.error)")
    #expect(!FileManager.default.fileExists(atPath: "-"))
  }

  @Test func `an unusable path is named`() async throws {
    let run = try await BuiltCommand.run(["send", "h.invalid", "-o", "/no/such/folder/x"])
    #expect(run.status == 1)
    #expect(run.error == "errand: “/no/such/folder/x” cannot be written: No such file or directory.\n")
  }
}
