/// A path in a record. A path below the home folder is stored relative to it, because the system gives an app another
/// home folder with each update.
struct RecordedPlace: Sendable, Hashable, Codable {
  private let path: String
  private let isBelowHome: Bool

  init(_ path: String, home: String) {
    let home = Self.folder(home)
    isBelowHome = home != "/" && path.hasPrefix(home)
    self.path = isBelowHome ? String(path.dropFirst(home.count)) : path
  }

  /// The full path, with the present home folder.
  func path(home: String) -> String { isBelowHome ? Self.folder(home) + path : path }

  private static func folder(_ path: String) -> String { path.hasSuffix("/") ? path : path + "/" }
}
