package import ErrandCore

/// Whose answers they are: what is stored for one is never seen, and never evicted, by another.
package enum CachePartition: Sendable, Hashable {
  /// Nobody's: no account, no credential and no cookie.
  case nobody
  /// An account's, as the credential provider names it.
  case account(String)
  /// Of whoever shows these fields: the request carries its own `Authorization` or `Cookie`, and there is no account.
  case fields([HTTPField])

  /// Finds the partition of a request. The cookies of a jar are none: they stand in the key beside it.
  ///
  /// - Parameters:
  ///   - account: Who is logged in.
  ///   - fields: What the request carries; add the `Authorization` that is made of a credential of its own.
  package static func of(account: String?, fields: HTTPFields) -> CachePartition {
    if let account { return .account(account) }
    guard fields.contains(.authorization) || fields.contains(.cookie) else { return .nobody }
    let own = [HTTPFieldName.authorization, .cookie].flatMap { name in
      fields.values(of: name).map { HTTPField(name, $0) }
    }
    return .fields(own)
  }

  /// The digest that stands for it; the names themselves are stored nowhere.
  package func digest(salt: [UInt8], version: UInt8 = CanonicalForm.version) -> Digest {
    var form = CanonicalForm("account", salt: salt, version: version)
    switch self {
    case .nobody: form.add("nobody")
    case .account(let name):
      form.add("account")
      form.add(name)
    case .fields(let fields):
      form.add("fields")
      form.add(UInt64(fields.count))
      for field in fields {
        form.add(field.name.rawValue.lowercased())
        form.add(field.value)
      }
    }
    return form.digest
  }
}
