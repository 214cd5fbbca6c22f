import Foundation

/// Folders that only the user of this process can access or replace.
package enum PrivateFolder {
  /// Makes a folder private. Does not change a folder of another user, or a folder that all users share, such as one
  /// for temporary files.
  /// - Returns: The reason why the folder must not be used; nil if it is private now.
  package static func makePrivate(_ path: String) -> FolderFault? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    if status.st_uid == geteuid(), status.st_mode & S_ISVTX == 0, status.st_mode & 0o777 != 0o700 { chmod(path, 0o700) }
    return fault(path)
  }

  /// The reason why a folder must not be used; nil if the folder is private or does not exist.
  package static func fault(_ path: String) -> FolderFault? {
    if let fault = parentFault(path) { return fault }
    let path = withoutEnd(path)
    var (link, target) = (stat(), stat())
    guard lstat(path, &link) == 0, stat(path, &target) == 0 else { return nil }
    if link.st_mode & S_IFMT == S_IFLNK, let fault = FolderFault(link: path, owner: link.st_uid, user: geteuid()) {
      return fault
    }
    return FolderFault(owner: target.st_uid, mode: UInt32(target.st_mode), user: geteuid())
  }

  /// The reason why other users could replace a folder or a file, whether it exists or not; nil if they cannot. A path
  /// that is not absolute is searched in the current folder.
  ///
  /// The folders above an app's folder are not checked on iOS, tvOS, watchOS and visionOS, because they belong to the
  /// system there.
  package static func parentFault(_ path: String) -> FolderFault? {
    guard hasSeveralUsers else { return nil }
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    let absolute = isAbsolute ? path : FileManager.default.currentDirectoryPath + "/" + path
    var folder = FolderPath(absolute, user: geteuid(), item: item)
    return folder.fault()
  }

  private static var hasSeveralUsers: Bool {
    #if os(Linux) || os(macOS)
      true
    #else
      false
    #endif
  }

  private static func item(_ path: String) -> FolderPath.Item? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    let isLink = status.st_mode & S_IFMT == S_IFLNK
    let mode = UInt32(status.st_mode)
    return FolderPath.Item(
      owner: status.st_uid, mode: mode,
      hasPrivateGroup: !isLink && mode & 0o020 != 0 && isPrivate(groupOf: path, status.st_gid),
      target: isLink ? target(path) : nil)
  }

  /// Whether no other user is in the group of a folder: the group of root; a group with the user's name, as most Linux
  /// distributions make it for each user; or a group without a name, as containers use it for their volumes.
  private static func isPrivate(groupOf path: String, _ group: UInt32) -> Bool {
    if group == 0 { return true }
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    guard let name = attributes?[.groupOwnerAccountName] as? String else { return attributes != nil }
    return Array(name.utf8) == Array(NSUserName().utf8)
  }

  /// The target of a symbolic link; empty if it cannot be read or is not UTF-8.
  private static func target(_ path: String) -> String {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(PATH_MAX)) { memory in
      let count = memory.withMemoryRebound(to: CChar.self) { text in
        text.baseAddress.map { readlink(path, $0, text.count) } ?? 0
      }
      return String(validating: memory.prefix(max(count, 0)), as: UTF8.self) ?? ""
    }
  }

  /// The path without slashes and `.` segments at its end. With such an end, the system would follow a symbolic link
  /// that is in the place of the last component.
  package static func withoutEnd(_ path: String) -> String {
    var bytes = path.utf8[...]
    while bytes.count > 1, bytes.last == 0x2F || bytes.suffix(2).elementsEqual("/.".utf8) { bytes = bytes.dropLast() }
    return String(Substring(bytes))
  }
}

/// The check that no other user controls the path of a folder: neither a folder above the folder nor a symbolic link.
///
/// The check reads the path as the system does, one component after the other, and follows symbolic links. So it also
/// checks the folders above the target of a link.
package struct FolderPath {
  /// The properties of an item in the path, without following a link.
  package struct Item: Sendable {
    /// The user that the item belongs to.
    package var owner: UInt32
    /// The mode of the item: its type and its permissions.
    package var mode: UInt32
    /// Whether no other user is in the group of the item.
    package var hasPrivateGroup: Bool
    /// The target of a symbolic link, empty if it cannot be read; nil for other items.
    package var target: String?

    package init(owner: UInt32, mode: UInt32, hasPrivateGroup: Bool = false, target: String? = nil) {
      (self.owner, self.mode, self.hasPrivateGroup, self.target) = (owner, mode, hasPrivateGroup, target)
    }
  }

  /// The maximum number of links that are followed, as in Linux.
  private static let mostLinks = 40

  private let user: UInt32
  private let item: (String) -> Item?
  /// The components that are not checked yet, in reverse order.
  private var rest: [Substring.UTF8View]
  /// The path of the checked folders.
  private var place = ""
  private var links = 0

  /// - Parameters:
  ///   - path: The absolute path of the folder.
  ///   - user: The user that this process runs as.
  ///   - item: Returns the properties of the item at a path; nil if the item does not exist.
  package init(_ path: String, user: UInt32, item: @escaping (String) -> Item?) {
    (self.user, self.item) = (user, item)
    rest = Self.components(path)
  }

  /// The reason why the path is unsafe. Nil if the path is safe, or if it ends at a folder that does not exist yet. The
  /// folder itself is not checked, only the folders above it and the links.
  package mutating func fault() -> FolderFault? {
    if let fault = parentFault(of: "/") { return fault }
    while let component = rest.popLast() {
      if component.elementsEqual("..".utf8) {
        place = Self.above(place)
        continue
      }
      let path = place + "/" + String(Substring(component))
      guard let found = item(path) else { return nil }
      if let target = found.target {
        if let fault = FolderFault(link: path, owner: found.owner, user: user) { return fault }
        if target.isEmpty { return .unreadableLink(path) }
        links += 1
        guard links <= Self.mostLinks else { return nil }
        if target.utf8.first == UInt8(ascii: "/") { place = "" }
        rest += Self.components(target)
      } else {
        place = path
        if !rest.isEmpty, let fault = parentFault(of: path) { return fault }
      }
    }
    return nil
  }

  private func parentFault(of path: String) -> FolderFault? {
    item(path).flatMap { item in
      FolderFault(
        parent: path, owner: item.owner, mode: item.mode, hasPrivateGroup: item.hasPrivateGroup, user: user)
    }
  }

  /// The components of a path in reverse order, without empty components and `.`.
  private static func components(_ path: String) -> [Substring.UTF8View] {
    path.utf8.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }.reversed()
  }

  private static func above(_ path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
  }
}

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

  /// Checks the properties of a folder above the folder, much as `StrictModes` of OpenSSH does. Nil if no other user
  /// can put another folder in the place of the folder.
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
      "The folder “\(parent)” belongs to another user (user ID \(owner)), who could replace “\(path)” in it. Use a folder whose parents belong to root or the current user, or change the owner with chown."
    case .sharedParent(let parent, let mode):
      "Other users may write to the folder “\(parent)” (mode \(String(mode, radix: 8))), so they could replace “\(path)” in it. Run chmod go-w on “\(parent)”, or use a folder in another place."
    }
  }
}
