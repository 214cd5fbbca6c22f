/// A path as it stands in a record. One below the home folder is kept without it: the system gives an app another one
/// with each update.
struct RecordedPlace: Sendable, Hashable, Codable {
  private let path: String
  private let isBelowHome: Bool

  init(_ path: String, home: String) {
    let home = Self.folder(home)
    isBelowHome = home != "/" && path.hasPrefix(home)
    self.path = isBelowHome ? String(path.dropFirst(home.count)) : path
  }

  /// The path, by where the home folder is now.
  func path(home: String) -> String { isBelowHome ? Self.folder(home) + path : path }

  private static func folder(_ path: String) -> String { path.hasSuffix("/") ? path : path + "/" }
}
