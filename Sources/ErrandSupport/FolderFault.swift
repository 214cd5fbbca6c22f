/// The reason why a folder must not be used for private files.
package enum FolderFault: Equatable, Sendable {
  /// The folder belongs to another user.
  case otherOwner(UInt32)
  /// The folder, or a folder above it, is a symbolic link of another user, who could change the target of the link.
  case otherLink(String, UInt32)
  /// The target of a symbolic link cannot be read, so the folders above it cannot be checked.
  case unreadableLink(String)
  /// Users other than the owner may write to the folder.
  case sharedWrite
  /// A folder above the folder belongs to another user, who could put another folder in its place.
  case otherParent(String, UInt32)
  /// Users other than the owner may write to a folder above the folder. So they could put another folder in its place.
  case sharedParent(String, mode: UInt32)

  /// Checks the properties of a folder. Nil if the folder may be used for private files.
  /// - Parameters:
  ///   - owner: The user that the folder belongs to.
  ///   - mode: The folder's mode, with its permissions.
  ///   - user: The user that this process runs as.
  package init?(owner: UInt32, mode: UInt32, user: UInt32) {
    if owner != user {
      self = .otherOwner(owner)
    } else if mode & 0o022 != 0 {
      self = .sharedWrite
    } else {
      return nil
    }
  }

  /// Checks the properties of a folder above the folder, much as `StrictModes` of OpenSSH does. Nil if no other user can
  /// put another folder in the place of the folder.
  ///
  /// The parent must belong to root or to the user, and only its owner and a private group may write to it. Different
  /// from `StrictModes`, folders above the home folder are checked, too, and the sticky bit, which `/tmp` has, makes a
  /// folder acceptable: only the owner of an item in it can rename or remove the item.
  /// - Parameters:
  ///   - path: The path of the parent.
  ///   - owner: The user that the parent belongs to.
  ///   - mode: The parent's mode, with its permissions.
  ///   - hasPrivateGroup: Whether no other user is in the parent's group.
  ///   - user: The user that this process runs as.
  package init?(parent path: String, owner: UInt32, mode: UInt32, hasPrivateGroup: Bool = false, user: UInt32) {
    if owner != user, owner != 0 {
      self = .otherParent(path, owner)
    } else if mode & (hasPrivateGroup ? 0o002 : 0o022) != 0, mode & 0o1000 == 0 {
      self = .sharedParent(path, mode: mode & 0o7777)
    } else {
      return nil
    }
  }

  /// Checks a symbolic link in the path of a folder. Nil if the link may be followed. Links that belong to root are
  /// part of the operating system, so they are accepted.
  package init?(link path: String, owner: UInt32, user: UInt32) {
    guard owner != user, owner != 0 else { return nil }
    self = .otherLink(path, owner)
  }

  /// Describes the problem in two sentences. The first sentence names the folder and the problem, the second sentence
  /// says how to solve the problem.
  /// - Parameter path: The path of the folder that was checked.
  package func sentence(_ path: String) -> String {
    switch self {
    case .otherOwner(let owner):
      "The folder “\(path)” belongs to another user (user ID \(owner)). Use a folder of the current user, or change the owner with chown."
    case .otherLink(let link, let owner):
      "The folder “\(link)” is a symbolic link that belongs to another user (user ID \(owner)). Use the path of the target folder, or replace the link."
    case .unreadableLink(let link):
      "The target of the symbolic link “\(link)” cannot be read. Use the path of the target folder."
    case .sharedWrite:
      "Other users may write to the folder “\(path)”. Use a new subfolder, which is made private, or run chmod 700 on the folder."
    case .otherParent(let parent, let owner):
      "The folder “\(parent)” belongs to another user (user ID \(owner)), who could replace the folder “\(path)” in it. Use a folder whose parents belong to root or the current user, or change the owner with chown."
    case .sharedParent(let parent, let mode):
      "Other users may write to the folder “\(parent)” (mode \(String(mode, radix: 8))), so they could replace the folder “\(path)” in it. Run chmod go-w on “\(parent)”, or use a folder in another place."
    }
  }
}
