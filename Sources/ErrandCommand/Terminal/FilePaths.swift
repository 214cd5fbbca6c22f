import Foundation

/// Finds the file to which a path leads.
enum LinkedFile {
  /// The file to write for a path. If the path is a symbolic link, the result is the file behind the link, also if this
  /// file does not exist yet. So the link stays when the file is replaced.
  static func place(_ path: String) -> URL {
    let files = FileManager.default
    var path = path
    if !files.fileExists(atPath: path) {
      // Foundation does not resolve a link to a missing file. The number of steps is limited, because links can form a
      // loop.
      for _ in 0..<32 {
        guard let target = try? files.destinationOfSymbolicLink(atPath: path) else { break }
        path = target.utf8.first == UInt8(ascii: "/") ? target : folder(of: path) + target
      }
    }
    return URL(filePath: path, directoryHint: .notDirectory).absoluteURL.resolvingSymlinksInPath()
  }

  /// The part of a path that names the folder, with the slash at its end; empty for the current folder.
  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(decoding: path.utf8[...slash], as: UTF8.self)
  }
}

/// Words the errors of Foundation's file functions, whose own descriptions are for programmers.
enum SystemReason {
  /// The system's text for the POSIX error behind an error, such as `Permission denied`.
  static func of(_ error: any Error) -> String {
    let error = error as NSError
    let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
    guard cause.domain == NSPOSIXErrorDomain, let code = Int32(exactly: cause.code) else {
      return error.localizedDescription
    }
    return String(cString: strerror(code))
  }
}
