package import ErrandCore
import ErrandSupport
import Foundation

/// Identifies the stored responses to one request. The key is computed at the start of a call and does not change.
///
/// A key consists only of digests, so it reveals no URL, no argument and no account.
public struct CacheKey: Sendable, Hashable {
  /// The digest of method, URL, body, selected header fields, cache model, account, cookies and secret fields.
  public let entry: Digest
  /// The digest of the same values as ``entry``, but without the account, the cookies and the secret fields. A store
  /// uses this digest only to find out whether another account has an entry.
  public let anyAccount: Digest
  /// The digest of URL and account, without method and cache model. Without an account, it is the digest of the URL and
  /// the identity of the transport, whatever secret fields the request has. A successful request with an unsafe method,
  /// such as POST, removes all entries that have this digest for its URL.
  public let target: Digest
  /// The digest of the account. Without an account, it is the digest of the secret fields and the identity of the
  /// transport.
  public let account: Digest

  /// Makes a key from its digests, for tests of stores.
  public init(entry: Digest, anyAccount: Digest, target: Digest, account: Digest) {
    self.entry = entry
    self.anyAccount = anyAccount
    self.target = target
    self.account = account
  }

  /// Whether both keys have the same ``entry``.
  public static func == (left: CacheKey, right: CacheKey) -> Bool { left.entry == right.entry }
  /// Hashes ``entry``.
  public func hash(into hasher: inout Hasher) { hasher.combine(entry) }
}

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
  package let account: Digest
  /// The digest of the partition without its secret fields, for ``target(of:)``.
  private let targetOwner: Digest
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
    let owner = partition.withoutSecrets
    targetOwner = owner == partition ? account : owner.digest(salt: salt, version: version)
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
    addDescription(of: request, to: &form)
    let anyAccount = form.digest
    return CacheKey(
      entry: owned(anyAccount, request), anyAccount: anyAccount, target: target(of: request.url), account: account)
  }

  /// The key of a GET request for the same URL as `request`. Responses with the decision
  /// ``StoringDecision/storeForGet(_:)`` are stored under this key.
  package func keyForGet(insteadOf request: HTTPRequest) -> CacheKey {
    key(for: HTTPRequest(url: request.url, fields: request.fields))
  }

  /// The digest that all entries for a URL and this account share, whatever their method and cache model. Without an
  /// account, all entries without an account share it, whatever secret fields their requests had. So it serves only for
  /// removals: an entry may be read only by its ``CacheKey/entry``.
  package func target(of url: HTTPURL) -> Digest {
    var form = CanonicalForm("target", salt: salt, version: version)
    add(url, to: &form)
    form.add(targetOwner)
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

  /// Adds the coding and the language of a body, which change the meaning of its bytes (RFC 10008 section 2.7). Bodies
  /// without these fields need no place for them in the form.
  private func addDescription(of request: HTTPRequest, to form: inout CanonicalForm) {
    guard request.body != nil else { return }
    for name in [HTTPFieldName.contentEncoding, "Content-Language"] where request.fields.contains(name) {
      form.add(name.rawValue.lowercased())
      form.add(request.fields.values(of: name))
    }
  }

  private func body(of request: HTTPRequest) -> Digest? {
    guard let body = request.body?.data else { return nil }
    guard let pieces = leftOut.pieces(of: body, type: request.fields[.contentType]) else {
      return SHA256.digest(of: body)
    }
    var form = CanonicalForm("pieces", salt: salt, version: version)
    for piece in pieces { form.add(bytes: piece) }
    return form.digest
  }
}

/// Remembers computed cache keys, because computing a digest takes longer than all other work for a cache hit.
///
/// Only the keys of plain requests are remembered: requests without a body and without a special rule for the key. The
/// key of a plain request depends on URL, method, cache model, account, secret fields and the identity of the
/// transport. All of these values are compared byte by byte, so two different requests never get the same key.
final class KeyMemo: Sendable {
  private struct Inputs: Hashable, Sendable {
    let url: HTTPURL
    let method: HTTPMethod
    let model: CachePolicy.Model
    let partition: CachePartition
    let secrets: [HTTPField]
    let transport: ByteText?
    let salt: Digest

    /// Hashes only the values that differ between most requests. The operator `==` compares all values.
    func hash(into hasher: inout Hasher) {
      hasher.combine(url)
      hasher.combine(partition)
    }
  }

  /// The key that was computed for a request, and the recipe with which it was computed.
  typealias Made = (recipe: CacheKeyRecipe, key: CacheKey)

  private static let most = 1_024

  private let known = Locked<[Inputs: Made]>([:])

  /// Returns the key of a request. The key of a plain request is computed only once.
  func key(
    for request: HTTPRequest, _ model: CachePolicy.Model, _ rule: CacheKeyRule, _ partition: CachePartition,
    transport: String?, salt: Digest
  ) -> Made {
    let isPlain = request.body == nil && rule.headers.isEmpty && rule.leftOut.isEmpty
    guard isPlain else { return Self.make(request, model, rule, partition, transport, salt) }
    let inputs = Inputs(
      url: request.url, method: request.method, model: model, partition: partition, secrets: request.fields.secrets,
      transport: transport.map { ByteText($0) }, salt: salt)
    if let found = known.withLock({ $0[inputs] }) { return found }
    let made = Self.make(request, model, rule, partition, transport, salt)
    known.withLock { known in
      if known.count >= Self.most { known.removeAll() }
      known[inputs] = made
    }
    return made
  }

  private static func make(
    _ request: HTTPRequest, _ model: CachePolicy.Model, _ rule: CacheKeyRule, _ partition: CachePartition,
    _ transport: String?, _ salt: Digest
  ) -> Made {
    let recipe = CacheKeyRecipe(
      model: model, fields: rule.headers, leftOut: Array(rule.leftOut), partition: partition, salt: salt.bytes,
      transport: transport)
    return (recipe, recipe.key(for: request))
  }
}
