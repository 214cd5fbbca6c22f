package import ErrandCore
import ErrandSupport

/// A group of stored responses that one origin declares with the field `Cache-Groups` (RFC 9875).
///
/// A response to an unsafe request, such as POST, removes the responses of the groups in its `Cache-Group-Invalidation`.
/// Two groups are the same if the origin and the name have the same bytes, so no server can remove the responses of
/// another origin. The tags of the app are separate: no server can remove responses by tag.
///
/// A group contains the responses of all accounts, because RFC 9875 section 2.1 defines it only by origin and name. A
/// removal tells no account anything about another: it only makes a response be loaded again.
public struct CacheGroup: Sendable, Hashable {
  /// The origin that declared the group, such as `https://api.example.com`. The host is in lower case, and the default
  /// port of the scheme is left out.
  public let origin: String
  /// The name of the group, which only the server interprets.
  public let name: String
  /// The host in ``origin``, in the form of ``CacheEntryLabel/host``.
  let host: String

  /// Makes a group from its origin and its name.
  public init(origin: String, name: String) {
    self.origin = origin
    self.name = name
    host = Self.host(of: origin)
  }
}

extension CacheGroup: ComparedByBytes {
  package var identity: some Hashable { Parts(ByteText(origin), ByteText(name)) }
}

extension CacheGroup {
  /// The field that puts a response into groups.
  static let declaration: HTTPFieldName = "Cache-Groups"
  /// The field with which a response to an unsafe request removes the responses of groups.
  static let invalidation: HTTPFieldName = "Cache-Group-Invalidation"
  /// The maximum number of groups that are read from a field, which RFC 9875 requires. Further groups are ignored, so
  /// that no response can make a store maintain or search many groups.
  static let most = 32
  /// The maximum length of a name, in characters. RFC 9875 requires at least 32. A longer name is ignored.
  static let mostCharacters = 256

  /// The groups that a field names, without repetitions. Empty if the field is absent, violates the grammar, or
  /// contains a member that is not a string. Parameters are ignored.
  static func groups(_ field: HTTPFieldName, in fields: HTTPFields, origin: String) -> [CacheGroup] {
    guard fields.contains(field), let members = try? StructuredField.list(fields.values(of: field)) else { return [] }
    var known: Set<String> = []
    var groups: [CacheGroup] = []
    for member in members {
      guard case .string(let name) = member.item?.value else { return [] }
      guard groups.count < most, name.utf8.count <= mostCharacters, known.insert(name).inserted else { continue }
      groups.append(CacheGroup(origin: origin, name: name))
    }
    return groups
  }

  private static func host(of origin: String) -> String {
    let authority = origin.utf8.split(separator: 0x2F).dropFirst().first ?? [][...]
    let end = authority.first == 0x5B ? authority.firstIndex(of: 0x5D).map { authority.index(after: $0) } : nil
    return String(decoding: authority[..<(end ?? authority.firstIndex(of: 0x3A) ?? authority.endIndex)], as: UTF8.self)
  }

  /// The origin in the URL of a label; nil if the text is not a URL. The query of a label is masked, so only the part
  /// before the path is read.
  static func origin(ofLabel url: String) -> String? {
    guard let slashes = url.utf8.firstIndex(of: 0x2F) else { return nil }
    let authority = url.utf8[slashes...].dropFirst(2).prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
    return (try? HTTPURL(String(decoding: url.utf8[..<authority.endIndex], as: UTF8.self)))?.origin.description
  }
}

extension CacheGroup {
  /// The group of all responses with the field `No-Vary-Search` under the path of a URL. A change of one of these
  /// resources may concern every equivalent URL, and which URLs are equivalent depends on each response, so that all of
  /// them are removed.
  ///
  /// The origin of this group contains a path, which the origin of no declared group does.
  static func equivalents(of url: HTTPURL) -> CacheGroup { equivalents(ofLabel: CacheEntryLabel.text(of: url)) }

  /// The groups that a response of a URL belongs to.
  static func memberships(_ fields: HTTPFields, of url: HTTPURL) -> [CacheGroup] {
    groups(declaration, in: fields, origin: url.origin.description)
      + (fields.contains(SearchVariation.field) ? [equivalents(of: url)] : [])
  }

  fileprivate static func equivalents(ofLabel url: String) -> CacheGroup {
    let place = url.utf8.prefix { $0 != 0x3F && $0 != 0x23 }
    let slash = place.count(where: { $0 == 0x2F }) < 3 ? "/" : ""
    return CacheGroup(origin: String(decoding: place, as: UTF8.self) + slash, name: SearchVariation.field.rawValue)
  }
}

extension CacheEntryLabel {
  /// The text of a URL for a label: its origin, its path, and its query with masked values.
  static func text(of url: HTTPURL) -> String {
    let query = url.query.map { Redaction.url("?\($0)") } ?? ""
    return "\(url.origin)\(Redaction.visible(url.path))\(query)"
  }
}

extension CacheEntryHead {
  /// Whether the response may belong to a group. The check reads only the names of the fields.
  var mayBeInGroups: Bool {
    answer.fields.contains(CacheGroup.declaration) || answer.fields.contains(SearchVariation.field)
  }

  /// Whether the response belongs to one of the groups. Most responses are excluded by their fields or their host, so
  /// that their URL and their groups are not parsed.
  func belongs(to groups: Set<CacheGroup>) -> Bool {
    guard mayBeInGroups, groups.contains(where: { $0.host.hasSameBytes(as: label.host) }) else { return false }
    return !groups.isDisjoint(with: memberships)
  }

  /// The declared groups, and the group of equivalent URLs if there is one.
  var memberships: [CacheGroup] {
    guard answer.fields.contains(SearchVariation.field) else { return groups }
    return groups + [CacheGroup.equivalents(ofLabel: label.url)]
  }

  /// The groups that the response belongs to. Custom stores use it to find the entries of a removal by group.
  ///
  /// The groups are read from the stored fields each time, so that a lookup does not pay for them.
  public var groups: [CacheGroup] {
    guard answer.fields.contains(CacheGroup.declaration), let origin = CacheGroup.origin(ofLabel: label.url) else {
      return []
    }
    return CacheGroup.groups(CacheGroup.declaration, in: answer.fields, origin: origin)
  }
}

extension CacheRules {
  /// The groups whose stored responses become invalid because of this response (RFC 9875 section 3). The field has no
  /// effect in a response to a safe method. As for ``invalidations(by:)``, a request that declares a lifetime is a read.
  ///
  /// The RFC sets no condition for the status: a server that rejects a change may know that the stored responses are out
  /// of date.
  package func groupInvalidations(by response: ResponseHead) -> [CacheGroup] {
    guard policy.model != .lifetime, !method.isSafe else { return [] }
    return CacheGroup.groups(CacheGroup.invalidation, in: response.fields, origin: url.origin.description)
  }
}
