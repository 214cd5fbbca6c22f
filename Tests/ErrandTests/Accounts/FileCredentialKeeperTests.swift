import Errand
import ErrandTransfer
import Foundation
import Testing

/// Accounts saved in a file, and every failure of that file.
struct FileCredentialKeeperTests {
  private let folder: URL
  private var file: URL { folder.appending(path: "tokens.json") }
  private let kept = KeptAccounts(
    current: "ada", credentials: ["ada": AccountCredential(.bearer("MARKER"), refreshToken: "r")])

  init() throws {
    folder = URL.temporaryDirectory.appending(path: "errand-keeper-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func mode(_ url: URL) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int)
  }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }

  @Test func `saved accounts are loaded`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let keeper = FileCredentialKeeper(file: file)
    #expect(try keeper.load() == nil)
    try keeper.save(kept)
    #expect(try keeper.load() == kept && mode(file) == 0o600)
    try keeper.save(KeptAccounts())
    #expect(try keeper.load() == nil && names.isEmpty, "no secret stays on the disk")
  }

  @Test func `leftover temporary file is removed`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let keeper = FileCredentialKeeper(file: file)
    try Data("MARKER".utf8).write(to: folder.appending(path: "tokens.json.new"))
    try keeper.save(KeptAccounts())
    #expect(names.isEmpty)
  }

  @Test func `file is readable only by its owner`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let keeper = FileCredentialKeeper(file: file)
    try keeper.save(kept)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    #expect(try keeper.load() == kept && mode(file) == 0o600)
  }

  @Test(arguments: ["", "{", #"{"accounts":[{"account":"ada","credential":{"password":"MARKER"}}]}"#, "MARKER"])
  func `damaged file is named in the error`(text: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(text.utf8).write(to: file)
    let error = #expect(throws: (any Error).self) { try FileCredentialKeeper(file: file).load() }
    let words = "\(try #require(error))"
    #expect(words.contains("tokens.json") && words.contains("log in again") && !words.contains("MARKER"))
  }

  @Test func `symbolic links are not followed`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let other = folder.appending(path: "other")
    try Data("precious".utf8).write(to: other)
    for name in ["tokens.json", "tokens.json.new"] {
      try FileManager.default.createSymbolicLink(at: folder.appending(path: name), withDestinationURL: other)
    }
    #expect(throws: (any Error).self) { try FileCredentialKeeper(file: file).load() }
    try FileCredentialKeeper(file: file).save(kept)
    #expect(try Data(contentsOf: other) == Data("precious".utf8))
    #expect(try FileCredentialKeeper(file: file).load() == kept)
  }

  @Test func `directory at the path is refused`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    #expect(throws: (any Error).self) { try FileCredentialKeeper(file: file).load() }
    #expect(throws: (any Error).self) { try FileCredentialKeeper(file: file).save(kept) }
    #expect(names == ["tokens.json"], "no temporary file is left")
  }

  /// Who may write to a folder can move the file away before a logout, and back afterwards.
  @Test(arguments: [0o777, 0o707]) func `folder open to others is refused`(_ mode: Int) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let keeper = FileCredentialKeeper(file: file)
    try keeper.save(kept)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path)
    for use in [{ _ = try keeper.load() }, { try keeper.save(kept) }] as [() throws -> Void] {
      let error = #expect(throws: (any Error).self) { try use() }
      let words = "\(try #require(error))"
      #expect(words.contains("tokens.json") && words.contains("chmod go-w") && !words.contains("MARKER"))
    }
    try keeper.save(KeptAccounts())
    #expect(names.isEmpty, "a logout removes the file all the same")
    try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: folder.path)
    try keeper.save(kept)
    #expect(try keeper.load() == kept, "in a sticky folder only the owner of a file can rename it")
  }

  @Test func `accounts beyond 1 MiB are refused`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileCredentialKeeper(file: file).save(kept)
    let long = AccountCredential(.bearer(String(repeating: "t", count: 1 << 20)))
    let error = #expect(throws: (any Error).self) {
      try FileCredentialKeeper(file: file).save(KeptAccounts(credentials: ["ada": long]))
    }
    #expect(error.map { "\($0)" }?.contains("more than 1 MiB") == true)
    #expect(try FileCredentialKeeper(file: file).load() == kept && names == ["tokens.json"])
  }

  @Test func `each file operation may fail`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let new = KeptAccounts(current: "bob", credentials: ["bob": AccountCredential(.bearer("new"))])
    var turn = 1
    while true {
      try FileCredentialKeeper(file: file).save(kept)
      let files = HookedFiles(failing: turn, 5)
      let isSaved = (try? FileCredentialKeeper(file: file, files: files).save(new)) != nil
      #expect(files.openCount == 0)
      let found = try FileCredentialKeeper(file: file).load()
      #expect(found == kept || found == new, "the file has the old or the new content")
      if files.calls.count < turn {
        #expect(isSaved && found == new)
        break
      }
      turn += 1
    }
    #expect(turn > 5)
  }
}
