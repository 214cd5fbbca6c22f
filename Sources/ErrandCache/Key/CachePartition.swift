package import ErrandCore
import ErrandSupport

/// The owner of stored responses. A response is visible only to requests of the same partition. Requests of other
/// partitions can neither read nor replace it.
///
/// Partitions are compared byte by byte.
package enum CachePartition: Sendable, Hashable {
  /// The responses have no owner: the request has no account and no secret field, and the transport has no identity.
  case nobody
  /// The responses belong to an account. The value is the name that the credential provider uses for the account.
  case account(String)
  /// The responses belong to a caller without an account. The caller sends these secret fields, such as
  /// `Authorization`, `Cookie` or an API key. `transport` is the identity of the transport, such as a client
  /// certificate.
  case fields([HTTPField], transport: String? = nil)

  /// Determines the partition of a request. Cookies from a cookie jar are not part of the partition, because the cache
  /// key contains them separately.
  ///
  /// - Parameters:
  ///   - account: The account that is logged in.
  ///   - fields: The header fields of the request, including the `Authorization` of a credential without an account.
  ///   - transport: The identity that the transport shows to servers, such as a client certificate; nil if it shows
  ///     none.
  package static func of(account: String?, fields: HTTPFields, transport: String? = nil) -> CachePartition {
    if let account { return .account(account) }
    let own = fields.secrets
    return own.isEmpty && transport == nil ? .nobody : .fields(own, transport: transport)
  }

  /// This partition without the secret fields: the account, or without an account only the identity of the transport.
  ///
  /// Secret fields such as a token against request forgery differ between the requests of one user, and a removal must
  /// reach all stored responses of this user.
  package var withoutSecrets: CachePartition {
    switch self {
    case .nobody, .account, .fields([], _): self
    case .fields(_, let transport): .of(account: nil, fields: HTTPFields(), transport: transport)
    }
  }

  /// The number of bytes of the texts in the partition.
  var cost: Int {
    switch self {
    case .nobody: 0
    case .account(let name): name.utf8.count
    case .fields(let fields, let transport): fields.reduce(transport?.utf8.count ?? 0) { $0 + $1.value.utf8.count }
    }
  }

  /// The digest of the partition. Only digests are stored, never the name of an account or the value of a secret field.
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
  /// The secret fields, which distinguish callers: first `Authorization` and `Cookie`, then the other fields sorted by
  /// name. Fields with the same name keep their order.
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
