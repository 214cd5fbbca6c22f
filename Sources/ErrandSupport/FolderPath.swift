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
