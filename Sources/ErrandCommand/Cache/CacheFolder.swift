import ErrandCache
import Foundation

/// The folder of a store as it was named on the command line.
struct CacheFolder: Sendable {
  /// Why it cannot be used, and how the process ends.
  struct Refusal: Error, Equatable, CustomStringConvertible {
    let description: String
    let code: ExitCode
  }

  let path: String
  let url: URL

  private init(_ path: String) {
    self.path = path
    url = URL(filePath: path, directoryHint: .isDirectory)
  }

  /// A folder with a store in it; nothing is made.
  static func existing(_ path: String) throws(Refusal) -> CacheFolder {
    let folder = CacheFolder(path)
    let condition = StoreCondition(of: folder.url)
    guard condition == .usable else { throw folder.refusal(condition) }
    return folder
  }

  /// A folder to keep answers in: one with a store, an empty one, or one that is made now, for the user alone.
  ///
  /// One with other things in it is refused, since a store closes its folder to everybody else.
  static func made(_ path: String) throws(Refusal) -> CacheFolder {
    let folder = CacheFolder(path)
    switch StoreCondition(of: folder.url) {
    case .usable, .empty, .damaged: return folder
    case .missing:
      let code = makeFolder(folder.url)
      guard code == 0 else { throw folder.closed(code, "cannot be made") }
      return folder
    case .occupied:
      throw folder.refusal("holds other things; a store wants a folder of its own, empty or new.")
    case let condition: throw folder.refusal(condition)
    }
  }

  /// Makes a folder and those above it; the system's error number, or zero.
  private static func makeFolder(_ url: URL) -> Int32 {
    let path = url.path(percentEncoded: false)
    if mkdir(path, 0o700) == 0 { return 0 }
    guard errno == ENOENT, path.split(separator: "/").count > 1 else { return errno }
    let code = makeFolder(url.deletingLastPathComponent())
    guard code == 0 || code == EEXIST else { return code }
    return mkdir(path, 0o700) == 0 ? 0 : errno
  }

  // MARK: - Sentences

  private func refusal(_ condition: StoreCondition) -> Refusal {
    switch condition {
    case .missing: refusal("is not there; “errand send --cache DIR URL” makes a store.")
    case .noFolder: refusal("is no folder.")
    case .closed(let code): closed(code, "cannot be used")
    case .notPrivate(let sentence): Refusal(description: sentence, code: .forbidden)
    case .empty, .usable: refusal("has no store in it: nothing was ever kept there.")
    case .occupied: refusal("has no store in it, but other things.")
    case .foreign: refusal("has the index of another program in it.")
    case .otherVersion: refusal("has a store of another version of Errand in it; take another folder.")
    case .damaged: refusal("has a damaged store in it; the next “errand send --cache” makes it anew.")
    }
  }

  private func refusal(_ clause: String) -> Refusal { Refusal(description: "“\(path)” \(clause)", code: .noStore) }

  private func closed(_ code: Int32, _ clause: String) -> Refusal {
    let isForbidden = [EACCES, EPERM, EROFS].contains(code)
    return Refusal(
      description: "“\(path)” \(clause): \(String(cString: strerror(code))).", code: isForbidden ? .forbidden : .noStore
    )
  }
}
