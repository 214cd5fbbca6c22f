import ErrandCache
import Foundation

/// The folder of a disk cache, as named on the command line.
struct CacheFolder: Sendable {
  let path: String
  let url: URL

  private init(_ path: String) {
    self.path = path
    url = URL(filePath: path, directoryHint: .isDirectory)
  }

  /// Returns the folder if it contains a store, otherwise throws. Creates nothing.
  static func existing(_ path: String) throws(Refusal) -> CacheFolder {
    let folder = CacheFolder(path)
    let condition = StoreCondition(of: folder.url)
    guard condition == .usable else { throw folder.refusal(condition) }
    return folder
  }

  /// Returns a folder for a store: a folder with a store, an empty folder, or a new folder that only the user can
  /// access. A failure of the disk is a result, because a call can be sent without a cache.
  /// A folder with other files is rejected: a store denies all other users access to its folder, so they could no
  /// longer read the other files.
  static func made(_ path: String) throws(Refusal) -> Result<CacheFolder, Refusal> {
    let folder = CacheFolder(path)
    switch StoreCondition(of: folder.url) {
    case .usable, .empty, .damaged: return .success(folder)
    case .missing:
      let code = makeFolder(folder.url)
      if code == 0 { return .success(folder) }
      return try folder.failure(code, "cannot be created")
    case .closed(let code): return try folder.failure(code, "cannot be used")
    case .occupied:
      throw folder.refusal("contains other files; a store needs an empty or a new folder.")
    case let condition: throw folder.refusal(condition)
    }
  }

  /// Creates a folder and its missing parents; returns the system's error number, or 0.
  private static func makeFolder(_ url: URL) -> Int32 {
    let path = url.path(percentEncoded: false)
    if mkdir(path, 0o700) == 0 { return 0 }
    guard errno == ENOENT, path.split(separator: "/").count > 1 else { return errno }
    let code = makeFolder(url.deletingLastPathComponent())
    guard code == 0 || code == EEXIST else { return code }
    return mkdir(path, 0o700) == 0 ? 0 : errno
  }

  // MARK: - Messages

  private func refusal(_ condition: StoreCondition) -> Refusal {
    switch condition {
    case .missing: refusal("does not exist; “errand send --cache DIR URL” creates a store.")
    case .noFolder: refusal("is not a folder; name a folder, or a path that does not exist yet.")
    case .closed(let code): closed(code, "cannot be used")
    case .notPrivate(let sentence): Refusal(description: sentence, code: .forbidden)
    case .empty, .usable:
      refusal("contains no store, because nothing was stored there; “errand send --cache DIR URL” stores responses.")
    case .occupied: refusal("contains other files, but no store; use the folder of a store.")
    case .foreign: refusal("contains the index of another program; use another folder.")
    case .otherVersion: refusal("contains a store of another version of Errand; use another folder.")
    case .damaged: refusal("contains a damaged store; the next “errand send --cache” replaces it.")
    }
  }

  /// The result for a folder that the system does not let the command use. If the cause is not the disk but the path or
  /// its permissions, the folder is rejected.
  private func failure(_ code: Int32, _ clause: String) throws(Refusal) -> Result<CacheFolder, Refusal> {
    guard [ENOSPC, EDQUOT, EFBIG, EROFS, EIO].contains(code) else { throw closed(code, clause) }
    return .failure(closed(code, clause))
  }

  private func refusal(_ clause: String) -> Refusal { Refusal(description: "“\(path)” \(clause)", code: .noStore) }

  private func closed(_ code: Int32, _ clause: String) -> Refusal {
    let isForbidden = [EACCES, EPERM, EROFS].contains(code)
    return Refusal(
      description: "“\(path)” \(clause): \(String(cString: strerror(code))).", code: isForbidden ? .forbidden : .noStore
    )
  }
}
