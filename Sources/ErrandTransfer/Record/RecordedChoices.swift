import ErrandCore

/// The caller's choices for storing the finished file. They also apply if a later download resumes the partial file
/// without knowing the original request.
package struct RecordedChoices: Sendable, Hashable {
  /// All bits that `chmod` accepts.
  private static let permissionBits: UInt16 = 0o7777

  /// The permissions of the file.
  package let permissions: UInt16
  /// Whether an existing file is replaced.
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

  /// The choices of a download.
  init(_ download: Download) {
    self.init(
      permissions: download.permissions, replaces: download.replaces, maximumBytes: download.maximumBytes,
      isNamedByServer: download.isNamedByServer)
  }
}

extension RecordedChoices: Codable {
  private enum CodingKeys: CodingKey { case permissions, replaces, maximumBytes, isNamedByServer }

  /// Reads the stored values; rejects unknown permission bits and a negative limit.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let permissions = try container.decode(UInt16.self, forKey: .permissions)
    let maximumBytes = try container.decodeIfPresent(Int64.self, forKey: .maximumBytes)
    self.init(
      permissions: permissions, replaces: try container.decode(Bool.self, forKey: .replaces),
      maximumBytes: maximumBytes, isNamedByServer: try container.decode(Bool.self, forKey: .isNamedByServer))
    guard self.permissions == permissions, self.maximumBytes == maximumBytes else {
      throw DecodingError.dataCorruptedError(
        forKey: .permissions, in: container, debugDescription: "the choices are invalid")
    }
  }
}
