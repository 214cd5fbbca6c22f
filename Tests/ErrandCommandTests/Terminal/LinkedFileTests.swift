import Foundation
import Testing

@testable import ErrandCommand

struct LinkedFileTests {
  /// The folder contains `link`, which leads to the folder `real/sub`. In it is `dangling`, a link to a missing file.
  private static func inFolder(_ body: (String) throws -> Void) throws {
    let files = FileManager.default
    let folder = files.temporaryDirectory.appending(path: "errand-links-\(UUID().uuidString)").path(
      percentEncoded: false)
    defer { try? files.removeItem(atPath: folder) }
    try files.createDirectory(atPath: folder + "/real/sub", withIntermediateDirectories: true)
    try files.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "real/sub")
    try files.createSymbolicLink(atPath: folder + "/real/sub/dangling", withDestinationPath: "../missing.txt")
    try files.createSymbolicLink(atPath: folder + "/loop", withDestinationPath: "loop")
    try Data().write(to: URL(filePath: folder + "/file"))
    try body(LinkedFile.place(folder))
  }

  @Test(
    arguments: [
      ("new", "new"), ("file", "file"), ("file/", "file/"), ("loop", "loop"), ("link", "real/sub"),
      ("link/", "real/sub"), ("link/new", "real/sub/new"), ("link/../new", "real/new"),
      ("link/dangling", "real/missing.txt"),
      ("results/", "results/"), ("missing/../new", "missing/../new"), ("missing/new", "missing/new"),
    ])
  func `path has the meaning of the system`(path: String, place: String) throws {
    try Self.inFolder { folder in
      #expect(LinkedFile.place("\(folder)/\(path)") == "\(folder)/\(place)")
    }
  }

  @Test func `relative path becomes absolute`() {
    let folder = LinkedFile.place(".")
    #expect(LinkedFile.place("~errand-new") == folder + "/~errand-new")
    #expect(LinkedFile.place("~/errand-new").hasSuffix("/~/errand-new"))
    #expect(LinkedFile.place("/errand-new") == "/errand-new")
    #expect(LinkedFile.place("").hasSuffix("/"))
  }
}
