import ErrandCore

/// How the file is kept that a part becomes: what the caller chose, and what holds too for who goes on with the part
/// without knowing the request.
package struct RecordedChoices: Sendable, Hashable {
  /// Every bit that `chmod` takes.
  private static let permissionBits: UInt16 = 0o7777

  /// Who may read and write the file.
  package let permissions: UInt16
  /// Whether a file that is there is replaced.
  package let replaces: Bool
  /// The most bytes that it may have; nil for no limit.
  package let maximumBytes: Int64?
  /// Whether its name is the one that the server says.
  package var isNamedByServer: Bool

  package init(permissions: UInt16, replaces: Bool, maximumBytes: Int64? = nil, isNamedByServer: Bool = false) {
    self.permissions = permissions & Self.permissionBits
    self.replaces = replaces
    self.maximumBytes = maximumBytes.map { max($0, 0) }
    self.isNamedByServer = isNamedByServer
  }

  /// What a download chooses.
  init(_ download: Download) {
    self.init(
      permissions: download.permissions, replaces: download.replaces, maximumBytes: download.maximumBytes,
      isNamedByServer: download.isNamedByServer)
  }
}

extension RecordedChoices: Codable {
  private enum CodingKeys: CodingKey { case permissions, replaces, maximumBytes, isNamedByServer }

  /// Reads what was written; bits that no file has, and a limit below zero, are none of it.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let permissions = try container.decode(UInt16.self, forKey: .permissions)
    let maximumBytes = try container.decodeIfPresent(Int64.self, forKey: .maximumBytes)
    self.init(
      permissions: permissions, replaces: try container.decode(Bool.self, forKey: .replaces),
      maximumBytes: maximumBytes, isNamedByServer: try container.decode(Bool.self, forKey: .isNamedByServer))
    guard self.permissions == permissions, self.maximumBytes == maximumBytes else {
      throw DecodingError.dataCorruptedError(
        forKey: .permissions, in: container, debugDescription: "choices that cannot be")
    }
  }
}
