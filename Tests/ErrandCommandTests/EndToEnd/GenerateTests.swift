import Foundation
import TestSupport
import Testing

@testable import ErrandCommand

struct GenerateTests {
  private static let document = #"""
    {"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"},
     "paths": {"/a": {"get": {"operationId": "getA", "tags": ["one"], "responses": {"204": {"description": ""}}}},
               "/b": {"get": {"operationId": "getB", "parameters": [{"$ref": "#/nowhere"}],
                              "responses": {"204": {"description": ""}}}}}}
    """#

  private static func inFolder(_ work: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-generate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(document.utf8).write(to: folder.appending(path: "api.json"))
    try await work(folder)
  }

  @Test func `files are written, checked and removed`() async throws {
    try await Self.inFolder { folder in
      let words = ["generate", folder.appending(path: "api.json").path, "--into", folder.appending(path: "Out").path]
      let first = try await BuiltCommand.run(words)
      #expect(first.status == 0)
      #expect(first.text.contains("2 requests and 0 models; 3 files written"))
      #expect(first.error.contains("api.json#/paths/~1b/get/parameters/0: the reference “#/nowhere” has no target"))
      #expect(try await BuiltCommand.run(words + ["--check"]).status == 0)

      let fewer = words + ["--tag", "one"]
      let check = try await BuiltCommand.run(fewer + ["--check"])
      #expect(check.status == 1)
      #expect(check.text == "not needed: Requests/GetB.swift\n")
      #expect(try await BuiltCommand.run(fewer).status == 0)
      #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "Out/Requests/GetB.swift").path))
    }
  }

  // A name in another case is the same file on a file system that ignores case.
  #if canImport(Darwin)
    private static let newNames = ["getC"]
  #else
    private static let newNames = ["getC", "getb"]
  #endif

  @Test(arguments: newNames) func `a failed run removes nothing`(name: String) async throws {
    try await Self.inFolder { folder in
      let (api, out) = (folder.appending(path: "api.json"), folder.appending(path: "Out"))
      let words = ["generate", api.path, "--into", out.path]
      #expect(try await BuiltCommand.run(words).status == 0)
      let model = ##"{"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tea"}}}}}"##
      let text = Self.document.replacing("getB", with: name).replacing(#"{"204": {"description": ""}}"#, with: model)
        .replacing(
          #""paths""#,
          with: #""components": {"schemas": {"Tea": {"type": "object", "properties": {"a": {}}}}}, "paths""#)
      try Data(text.utf8).write(to: api)
      try Data().write(to: out.appending(path: "Models"))
      let run = try await BuiltCommand.run(words)
      #expect(run.status == ExitCode.disk.rawValue)
      #expect(run.error.hasSuffix("Out/Models/Tea.swift” cannot be written: File exists.\n"), "\(run.error)")
      #expect(FileManager.default.fileExists(atPath: out.appending(path: "Requests/GetB.swift").path))
    }
  }

  /// On a file system that ignores case, the new file has the path of the old one.
  @Test func `a name in another case is replaced`() async throws {
    try await Self.inFolder { folder in
      let (api, out) = (folder.appending(path: "api.json"), folder.appending(path: "Out/"))
      let words = ["generate", api.path, "--into", out.path]
      #expect(try await BuiltCommand.run(words).status == 0)
      try Data(Self.document.replacing("getB", with: "getb").utf8).write(to: api)
      #expect(try await BuiltCommand.run(words).status == 0)
      let names = try FileManager.default.contentsOfDirectory(atPath: out.appending(path: "Requests").path)
      #expect(names.sorted() == ["GetA.swift", "Getb.swift"])
      #expect(try await BuiltCommand.run(words + ["--check"]).status == 0)
    }
  }

  @Test func `files that cannot be read are named`() async throws {
    try await Self.inFolder { folder in
      let (api, out) = (folder.appending(path: "api.json"), folder.appending(path: "Out").path)
      let missing = try await BuiltCommand.run(["generate", folder.path + "/none.json", "--into", out])
      #expect(missing.status == 66)
      #expect(missing.error == "errand: “\(folder.path)/none.json” cannot be read: No such file or directory.\n")
      try Data(Self.document.replacing("#/nowhere", with: "none.json#/a").utf8).write(to: api)
      let run = try await BuiltCommand.run(["generate", api.path, "--into", out])
      #expect(run.status == 0)
      let reason = "cannot be followed: “none.json” cannot be read: No such file or directory\n"
      #expect(run.error.contains(reason), "\(run.error)")
    }
  }

  @Test func `a file of the user is kept`() async throws {
    try await Self.inFolder { folder in
      let own = folder.appending(path: "Out/Shop.swift")
      try FileManager.default.createDirectory(at: own.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("struct Shop {}\n".utf8).write(to: own)
      let run = try await BuiltCommand.run([
        "generate", folder.appending(path: "api.json").path, "--into", folder.appending(path: "Out").path,
      ])
      #expect(run.status == 73)
      #expect(try String(contentsOf: own, encoding: .utf8) == "struct Shop {}\n")
      #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "Out/Requests").path))
    }
  }

  @Test func `a broken document is reported`() async throws {
    try await Self.inFolder { folder in
      let file = folder.appending(path: "bad.json")
      try Data("{\"openapi\": \"3.1.0\",\n  oops}".utf8).write(to: file)
      let run = try await BuiltCommand.run(["generate", file.path, "--into", folder.path])
      #expect(run.status == 65)
      #expect(run.error.contains("bad.json, line 2, column 3: the name of a member is missing"))
      #expect(try await BuiltCommand.run(["generate", folder.path + "/none.json", "--into", folder.path]).status == 66)
    }
  }

  /// An archive with a page of a browser and two exchanges with an API.
  private static let archive = #"""
    {"log": {"version": "1.2", "creator": {"name": "browser", "version": "1"}, "entries": [
      \#(entry("https://www.shop.example/", "text/html", "<p>canary-7f3c</p>")),
      \#(entry("https://api.shop.example/teas/7?key=canary-7f3c&q=a%20b", "application/json", #"{\"id\": 7, \"name\": \"canary-7f3c\"}"#)),
      \#(entry("https://api.shop.example/teas/8?q=x", "application/json", #"{\"id\": 8}"#))]}}
    """#

  private static func entry(_ url: String, _ type: String, _ text: String) -> String {
    #"""
    {"startedDateTime": "2026-01-31T12:00:00Z", "time": 1, "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0},
      "request": {"method": "GET", "url": "\#(url)", "httpVersion": "HTTP/2", "cookies": [], "queryString": [],
        "headers": [{"name": "Authorization", "value": "Bearer canary-7f3c"}], "headersSize": -1, "bodySize": 0},
      "response": {"status": 200, "statusText": "", "httpVersion": "HTTP/2", "cookies": [], "redirectURL": "",
        "headers": [{"name": "Set-Cookie", "value": "sid=canary-7f3c"}], "headersSize": -1, "bodySize": -1,
        "content": {"size": 30, "mimeType": "\#(type)", "text": "\#(text)"}}}
    """#
  }

  @Test func `a recording becomes a draft`() async throws {
    try await Self.inFolder { folder in
      let (archive, out) = (folder.appending(path: "traffic.har"), folder.appending(path: "Out"))
      try Data(Self.archive.utf8).write(to: archive)
      let words = ["generate", archive.path, "--into", out.path]
      let first = try await BuiltCommand.run(words)
      #expect(first.status == 0, "\(first.error)")
      #expect(first.text.contains("1 requests and 1 models; 3 files written"))
      #expect(try await BuiltCommand.run(words + ["--check", "--host", "api.shop.example"]).status == 0)
      var all = ""
      for path in ["Shop.swift", "Requests/GetTea.swift", "Models/Tea.swift"] {
        all += try String(contentsOf: out.appending(path: path), encoding: .utf8)
      }
      #expect(all.contains("/// A draft from 2 recorded exchanges with api.shop.example."))
      #expect(all.contains("var teaID: Int\n") && all.contains("var key: String?") && all.contains("var q: String\n"))
      #expect(all.contains("var name: String?") && !all.contains("canary"))
      let wrong = try await BuiltCommand.run(words + ["--host", "cdn.example"])
      #expect(wrong.status == 65 && wrong.error.contains("no exchange with the host “cdn.example”"))
    }
  }

  @Test func `a flight file becomes a draft`() async throws {
    let fixture = try await RecordFixture()
    let out = fixture.folder.appending(path: "Out")
    let run = try await BuiltCommand.run(["generate", fixture.path, "--into", out.path])
    #expect(run.status == 0, "\(run.error)")
    #expect(run.text.contains("3 requests"))
    let missing = try await BuiltCommand.run(["generate", out.path + "/none.har", "--into", out.path])
    #expect(missing.status == 66)
  }
}
