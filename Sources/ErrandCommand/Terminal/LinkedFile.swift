import Foundation

/// Finds the file to which a path leads.
enum LinkedFile {
  /// The absolute path of the file to write for a path, as the system resolves it. If the path is a symbolic link, the
  /// result is the file behind the link, also if this file does not exist yet. So the link stays when the file is
  /// replaced. A path that leads to no folder is not resolved, and a slash at its end stays, so that it cannot be
  /// written.
  static func place(_ path: String) -> String {
    let files = FileManager.default
    var path = path
    // `realpath` does not resolve a link to a missing file. The number of steps is limited, because links can form a
    // loop.
    for _ in 0..<32 {
      guard let target = try? files.destinationOfSymbolicLink(atPath: path) else { break }
      path = target.utf8.first == slash ? target : parts(of: path).folder + target
    }
    if let real = real(path) { return real }
    let (folder, name) = parts(of: path)
    if !name.isEmpty, let real = real(folder.isEmpty ? "." : folder) {
      return real.utf8.last == slash ? real + name : "\(real)/\(name)"
    }
    return path.utf8.first == slash ? path : "\(files.currentDirectoryPath)/\(path)"
  }

  /// Whether a path has a slash at its end, so that it can only be a folder.
  static func namesFolder(_ path: String) -> Bool { path.utf8.last == slash }

  private static let slash = UInt8(ascii: "/")

  /// The part of a path that names the folder, with the slash at its end, and the rest. The folder is empty for a file
  /// in the current folder.
  private static func parts(of path: String) -> (folder: String, name: String) {
    guard let end = path.utf8.lastIndex(of: slash) else { return ("", path) }
    let start = path.utf8.index(after: end)
    return (String(decoding: path.utf8[..<start], as: UTF8.self), String(decoding: path.utf8[start...], as: UTF8.self))
  }

  /// The path of an existing file without links; nil if it does not exist.
  private static func real(_ path: String) -> String? {
    guard let bytes = realpath(path, nil) else { return nil }
    defer { free(bytes) }
    return String(cString: bytes)
  }
}
