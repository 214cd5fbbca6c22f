/// A file path in the saved record of a background transfer. A path below the home folder is stored relative to the
/// home folder, because the system gives an app another home folder with each update.
struct RecordedPlace: Sendable, Hashable, Codable {
  private let path: String
  private let isBelowHome: Bool

  init(_ path: String, home: String) {
    let home = Self.folder(home)
    // Compares bytes, because a slash and a combining mark after it are one `Character`.
    isBelowHome = home != "/" && path.utf8.starts(with: home.utf8)
    self.path = isBelowHome ? String(Substring(path.utf8.dropFirst(home.utf8.count))) : path
  }

  /// The full path of the file, which starts with the present home folder if the file is below the home folder.
  func path(home: String) -> String { isBelowHome ? Self.folder(home) + path : path }

  private static func folder(_ path: String) -> String { path.hasSuffix("/") ? path : path + "/" }
}
