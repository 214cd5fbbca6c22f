package import ErrandCore
import ErrandSupport

/// Whose answers they are: what is stored for one is never seen, and never evicted, by another.
///
/// Compared byte by byte.
package enum CachePartition: Sendable, Hashable {
  /// Nobody's: no account, no secret field and no identity of the transport.
  case nobody
  /// An account's, as the credential provider names it.
  case account(String)
  /// Of the caller that shows these secret fields, such as `Authorization`, `Cookie` or an API key, over a transport with
  /// this identity; there is no account.
  case fields([HTTPField], transport: String? = nil)

  /// Finds the partition of a request. The cookies of a jar are none: they stand in the key beside it.
  ///
  /// - Parameters:
  ///   - account: Who is logged in.
  ///   - fields: What the request carries; add the `Authorization` that is made of a credential of its own.
  ///   - transport: What servers know the transport by.
  package static func of(account: String?, fields: HTTPFields, transport: String? = nil) -> CachePartition {
    if let account { return .account(account) }
    let own = fields.secrets
    return own.isEmpty && transport == nil ? .nobody : .fields(own, transport: transport)
  }

  /// The digest that stands for it; the names themselves are stored nowhere.
  package func digest(salt: [UInt8], version: UInt8 = CanonicalForm.version) -> Digest {
    var form = CanonicalForm("account", salt: salt, version: version)
    switch self {
    case .nobody: form.add("nobody")
    case .account(let name):
      form.add("account")
      form.add(name)
    case .fields(let fields, let transport):
      form.add("fields")
      form.add(UInt64(fields.count))
      for field in fields {
        form.add(field.name.rawValue.lowercased())
        form.add(field.value)
      }
      if let transport { form.add(transport) }
    }
    return form.digest
  }
}

extension CachePartition {
  package static func == (left: CachePartition, right: CachePartition) -> Bool {
    switch (left, right) {
    case (.nobody, .nobody): true
    case (.account(let name), .account(let other)): name.hasSameBytes(as: other)
    case (.fields(let fields, let transport), .fields(let otherFields, let otherTransport)):
      fields == otherFields && transport.hasSameBytes(as: otherTransport)
    case (.nobody, _), (.account, _), (.fields, _): false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .nobody: hasher.combine(0)
    case .account(let name): hasher.combine(ByteText(name))
    case .fields(let fields, _): hasher.combine(fields)
    }
  }
}

extension HTTPFields {
  /// The fields that tell callers apart, `Authorization` and `Cookie` first, then the others in order of their names:
  /// lines of one name keep their order.
  var secrets: [HTTPField] {
    let found = all.filter(\.isSecret)
    if found.isEmpty { return found }
    let ranked = found.enumerated().map { (rank: Self.rank($1.name), place: $0, field: $1) }
    return ranked.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }.map { HTTPField($0.field.name, $0.field.value) }
  }

  private static func rank(_ name: HTTPFieldName) -> String {
    switch name {
    case .authorization: "0"
    case .cookie: "1"
    default: "2" + name.rawValue.lowercased()
    }
  }
}
