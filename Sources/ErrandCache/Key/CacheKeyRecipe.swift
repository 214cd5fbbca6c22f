package import ErrandCore
import ErrandSupport
import Foundation

/// How keys are made: frozen once for a call, and used again for each hop of its redirects.
package struct CacheKeyRecipe: Sendable, Hashable {
  /// Which model of keeping; the models never read each other's entries.
  package let model: CachePolicy.Model
  /// The request's fields that are part of the key, in lower case and sorted.
  package let fields: [String]
  /// The arguments of query and body that are not.
  package let leftOut: LeftOutArguments
  /// The store's own bytes.
  package let salt: [UInt8]
  /// The digest of the account.
  package let account: Digest
  private let transport: ByteText?
  private let version: UInt8

  /// Makes a recipe.
  /// - Parameters:
  ///   - model: Which model of keeping.
  ///   - fields: The request's fields that are part of the key.
  ///   - leftOut: The names of arguments that are not, in the query, a form or a JSON object.
  ///   - partition: Whose answers.
  ///   - salt: The store's own bytes.
  ///   - transport: What servers know the transport by.
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
  /// Under HTTP's own rules HEAD has the key of GET, since it may be answered from what GET stored.
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

  /// The key of a GET for the same URL: under it lies what ``StoringDecision/storeForGet(_:)`` stores.
  package func keyForGet(insteadOf request: HTTPRequest) -> CacheKey {
    key(for: HTTPRequest(url: request.url, fields: request.fields))
  }

  /// What everything stored for a URL and this account has in common, whatever the method and the model.
  package func target(of url: HTTPURL) -> Digest {
    var form = CanonicalForm("target", salt: salt, version: version)
    add(url, to: &form)
    form.add(account)
    return form.digest
  }

  /// A request's own `Authorization` takes the place of the account's credential, its own `Cookie` may name a session of
  /// another one, and any other secret field or a client certificate may name a user, so they count beside the account.
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
