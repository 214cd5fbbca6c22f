/// The reason why a folder must not be used for private files.
enum FolderFault: Equatable, Sendable {
  /// The folder belongs to another user.
  case otherOwner(UInt32)
  /// The folder is a symbolic link of another user, who could change the target of the link. Links in the path above
  /// the folder are not checked.
  case otherLink(UInt32)
  /// Users other than the owner may write to the folder.
  case sharedWrite

  /// Checks the properties of a folder. Nil if the folder may be used for private files.
  /// - Parameters:
  ///   - owner: The user that the folder belongs to.
  ///   - mode: The folder's mode, with its permissions.
  ///   - linkOwner: The owner of the symbolic link that is in the place of the folder; nil if there is no link.
  ///   - user: The user that this process runs as.
  init?(owner: UInt32, mode: UInt32, linkOwner: UInt32?, user: UInt32) {
    // Links that belong to root are part of the operating system, so they are accepted.
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

  /// Describes the problem in two sentences. The first sentence names the folder and the problem, the second sentence
  /// says how to solve the problem.
  func sentence(_ path: String) -> String {
    switch self {
    case .otherOwner(let owner):
      "The folder “\(path)” belongs to another user (user ID \(owner)). Use a folder of the current user, or change the owner with chown."
    case .otherLink(let owner):
      "The folder “\(path)” is a symbolic link that belongs to another user (user ID \(owner)). Use the path of the target folder, or replace the link."
    case .sharedWrite:
      "Other users may write to the cache folder “\(path)”. Use a new subfolder, which the cache makes private, or run chmod 700 on the folder."
    }
  }
}
