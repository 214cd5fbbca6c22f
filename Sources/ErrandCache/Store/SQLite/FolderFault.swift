/// Why a folder must not be used for private files.
enum FolderFault: Equatable, Sendable {
  /// The folder belongs to another user.
  case otherOwner(UInt32)
  /// A link of another user leads to the folder. That user could lead it elsewhere.
  case otherLink(UInt32)
  /// Users other than the owner may write to the folder.
  case sharedWrite

  /// - Parameters:
  ///   - owner: The user that the folder belongs to.
  ///   - mode: The folder's mode, with its permissions.
  ///   - linkOwner: The owner of the symbolic link that leads to the folder; nil if there is no link.
  ///   - user: The user that this process runs as.
  init?(owner: UInt32, mode: UInt32, linkOwner: UInt32?, user: UInt32) {
    // Links by root are part of the system's own layout.
    if let linkOwner, linkOwner != user, linkOwner != 0 {
      self = .otherLink(linkOwner)
    } else if owner != user {
      self = .otherOwner(owner)
    } else if mode & 0o022 != 0 {
      self = .sharedWrite
    } else {
      return nil
    }
  }

  /// The fault in a sentence that names the folder, and a second one that names the cure.
  func sentence(_ path: String) -> String {
    switch self {
    case .otherOwner(let owner):
      "The folder “\(path)” belongs to another user (\(owner)). Use a folder of this user's own, or change its owner with chown."
    case .otherLink(let owner):
      "The folder “\(path)” is a symbolic link of another user (\(owner)). Name the folder that it leads to, or replace the link."
    case .sharedWrite:
      "Other users may write to the folder “\(path)”. Use a new folder below it, which is made for this user alone, or run chmod 700."
    }
  }
}
