import ErrandSupport

/// Whose credential is refreshed: an account of a provider.
struct RefreshSubject: Sendable, Hashable {
  let account: ByteText?
  /// Whether the provider is an object, of which there are no two.
  let isOfObject: Bool
  private let provider: ObjectIdentifier
  private let base: HTTPURL.Origin?

  /// - Parameters:
  ///   - account: The account; nil where the provider knows none.
  ///   - provider: An object is told from others by itself, a value by its type and the base URL.
  ///   - base: The origin of the base URL.
  init(_ account: String?, of provider: any CredentialProvider, at base: HTTPURL.Origin?) {
    self.account = account.map { ByteText($0) }
    isOfObject = type(of: provider) is AnyClass
    self.provider = isOfObject ? ObjectIdentifier(provider as AnyObject) : ObjectIdentifier(type(of: provider))
    self.base = isOfObject ? nil : base
  }
}
