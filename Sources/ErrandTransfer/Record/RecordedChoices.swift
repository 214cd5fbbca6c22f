import ErrandCore

/// The caller's choices for storing the finished file. The choices also apply if a later download resumes the partial
/// file without knowing the original request.
package struct RecordedChoices: Sendable, Hashable {
  /// All permission bits that `chmod` accepts.
  private static let permissionBits: UInt16 = 0o7777

  /// The permissions of the finished file.
  package let permissions: UInt16
  /// Whether an existing file at the target is replaced.
  package let replaces: Bool
  /// The maximum size of the file in bytes; nil for no limit.
  package let maximumBytes: Int64?
  /// Whether the server chooses the file name.
  package var isNamedByServer: Bool

  package init(permissions: UInt16, replaces: Bool, maximumBytes: Int64? = nil, isNamedByServer: Bool = false) {
    self.permissions = permissions & Self.permissionBits
    self.replaces = replaces
    self.maximumBytes = maximumBytes.map { max($0, 0) }
    self.isNamedByServer = isNamedByServer
  }

  /// Copies the choices for storing the file from a `Download`.
  init(_ download: Download) {
    self.init(
      permissions: download.permissions, replaces: download.replaces, maximumBytes: download.maximumBytes,
      isNamedByServer: download.isNamedByServer)
  }
}

extension RecordedChoices: Codable {
  private enum CodingKeys: CodingKey { case permissions, replaces, maximumBytes, isNamedByServer }

  /// Decodes the choices. Throws if they contain unknown permission bits or a negative maximum size.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let permissions = try container.decode(UInt16.self, forKey: .permissions)
    let maximumBytes = try container.decodeIfPresent(Int64.self, forKey: .maximumBytes)
    self.init(
      permissions: permissions, replaces: try container.decode(Bool.self, forKey: .replaces),
      maximumBytes: maximumBytes, isNamedByServer: try container.decode(Bool.self, forKey: .isNamedByServer))
    guard self.permissions == permissions, self.maximumBytes == maximumBytes else {
      throw DecodingError.dataCorruptedError(
        forKey: .permissions, in: container, debugDescription: "the stored permissions or the maximum size are invalid")
    }
  }
}
