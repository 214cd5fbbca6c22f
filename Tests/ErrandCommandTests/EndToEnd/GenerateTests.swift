import Foundation
import TestSupport
import Testing

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
}
