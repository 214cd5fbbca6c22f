package import ErrandCore
import ErrandSupport
import Foundation

/// Computes cache keys. A call uses one recipe for its request and for all redirects.
package struct CacheKeyRecipe: Sendable, Hashable {
  /// The cache model of the policy, such as HTTP rules or a declared lifetime. Entries of one model are never read
  /// under another model.
  package let model: CachePolicy.Model
  /// The names of the request fields that are part of the key, in lower case and sorted.
  package let fields: [String]
  /// The query and body arguments that are not part of the key.
  package let leftOut: LeftOutArguments
  /// The salt: the random bytes of the store that are part of every digest.
  package let salt: [UInt8]
  /// The digest of the account.
  package let account: Digest
  private let transport: ByteText?
  private let version: UInt8

  /// Makes a recipe for cache keys.
  /// - Parameters:
  ///   - model: The cache model.
  ///   - fields: The request fields that are part of the key.
  ///   - leftOut: The names of arguments in the query, a form or a JSON object that are not part of the key.
  ///   - partition: The partition that the responses belong to.
  ///   - salt: The random bytes of the store.
  ///   - transport: The identity that the transport shows to servers, such as a client certificate; nil if it shows
  ///     none.
  package init(
    model: CachePolicy.Model, fields: [HTTPFieldName] = [], leftOut: [String] = [], partition: CachePartition,
    salt: [UInt8], transport: String? = nil, version: UInt8 = CanonicalForm.version
  ) {
    self.model = model
    self.fields = Set(fields.map { $0.rawValue.lowercased() }).sorted()
    self.leftOut = LeftOutArguments(leftOut)
    self.salt = salt
    self.transport = transport.map { ByteText($0) }
    self.version = version
    account = partition.digest(salt: salt, version: version)
  }

  /// The key of a request.
  ///
  /// With the HTTP model, HEAD has the key of GET, because a stored response to GET may be served for HEAD.
  package func key(for request: HTTPRequest) -> CacheKey {
    var form = CanonicalForm("entry", salt: salt, version: version)
    form.add(UInt64(model.rawValue))
    form.add(request.method == .head && model != .lifetime ? HTTPMethod.get.rawValue : request.method.rawValue)
    add(request.url, to: &form)
    form.add(UInt64(fields.count))
    for name in fields {
      form.add(name)
      form.add(request.fields.values(of: HTTPFieldName(name)))
    }
    form.add(body(of: request))
    form.add(request.body == nil ? [] : request.fields.values(of: .contentType))
    let anyAccount = form.digest
    return CacheKey(
      entry: owned(anyAccount, request), anyAccount: anyAccount, target: target(of: request.url), account: account)
  }

  /// The key of a GET request for the same URL as `request`. Responses with the decision
  /// ``StoringDecision/storeForGet(_:)`` are stored under this key.
  package func keyForGet(insteadOf request: HTTPRequest) -> CacheKey {
    key(for: HTTPRequest(url: request.url, fields: request.fields))
  }

  /// The digest that all entries for a URL and this account share, whatever their method and cache model.
  package func target(of url: HTTPURL) -> Digest {
    var form = CanonicalForm("target", salt: salt, version: version)
    add(url, to: &form)
    form.add(account)
    return form.digest
  }

  /// Makes a digest from `anyAccount` and from everything that identifies the caller. The account alone is not enough.
  /// The field `Authorization` of the request replaces the credential of the account, and the field `Cookie` may belong
  /// to another session. Other secret fields or a client certificate may also identify a user.
  private func owned(_ anyAccount: Digest, _ request: HTTPRequest) -> Digest {
    var form = CanonicalForm("owned", salt: salt, version: version)
    form.add(anyAccount)
    form.add(account)
    form.add(request.fields.values(of: .authorization))
    form.add(request.fields.values(of: .cookie))
    let others = request.fields.secrets.filter { $0.name != .authorization && $0.name != .cookie }
    if !others.isEmpty {
      form.add(UInt64(others.count))
      for field in others {
        form.add(field.name.rawValue.lowercased())
        form.add(field.value)
      }
    }
    if let transport {
      form.add("transport")
      form.add(transport.text)
    }
    return form.digest
  }

  private func add(_ url: HTTPURL, to form: inout CanonicalForm) {
    form.add(url.scheme.rawValue)
    form.add(url.host)
    form.add(UInt64(clamping: url.port))
    form.add(url.path.isEmpty ? "/" : url.path)
    form.add(leftOut.query(url.query))
  }

  private func body(of request: HTTPRequest) -> Digest? {
    guard let body = request.body?.data else { return nil }
    guard let pieces = leftOut.pieces(of: body, type: request.fields[.contentType]) else {
      var hash = SHA256()
      hash.update(body)
      return hash.finished()
    }
    var form = CanonicalForm("pieces", salt: salt, version: version)
    for piece in pieces { form.add(bytes: piece) }
    return form.digest
  }
}
