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

  /// The reason why other users could replace a folder, whether it exists or not; nil if they cannot. A path that is
  /// not absolute is searched in the current folder.
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
