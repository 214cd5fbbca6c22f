import ErrandCore
import ErrandHTTP

#if os(Linux)
  import ErrandEngine
#elseif canImport(Darwin)
  import ErrandURLSession
#endif

/// The settings that make a transport of the client's own: the proxy and the trusted certificate authorities.
struct ConnectionSettings: Sendable, Hashable {
  private enum Proxy: Sendable, Hashable { case none, environment, url(String) }

  private var proxy: Proxy?
  private var user: String?
  private var password: String?
  private var authorityFile: String?

  var isEmpty: Bool { self == ConnectionSettings() }

  /// Sets one of the settings. Returns false if the text has not the form of the setting.
  mutating func set(_ setting: ClientSetting, _ text: String) -> Bool {
    switch setting {
    case .proxy:
      switch text {
      case "none": proxy = Proxy.none
      case "environment": proxy = .environment
      default:
        // A user in the URL would be shown in messages, so it has settings of its own.
        guard ProxyAddress(text) != nil, !text.utf8.contains(0x40) else { return false }
        proxy = .url(text)
      }
    case .proxyUser:
      if text.utf8.contains(0x3A) { return false }
      user = text
    case .proxyPassword: password = text
    case .authorityFile:
      guard text.utf8.first == 0x2F else { return false }
      authorityFile = text
    default: return false
    }
    return true
  }

  /// The fault of settings that exclude each other; nil if there is none.
  func fault(prefix: String) -> String? {
    if user == nil, password != nil {
      return "\(prefix)PROXY_PASSWORD is set without \(prefix)PROXY_USER; set both or none of them."
    }
    if user != nil, !isURL {
      return "\(prefix)PROXY_USER is set, but \(prefix)PROXY is not a URL; set \(prefix)PROXY to the URL of the proxy."
    }
    return nil
  }

  /// The names and the values of the settings, for messages.
  func names(prefix: String) -> String {
    var shown: [String] = []
    switch proxy {
    case nil: break
    case Proxy.none?: shown.append("\(prefix)PROXY (none)")
    case .environment?: shown.append("\(prefix)PROXY (environment)")
    case .url(let url)?: shown.append("\(prefix)PROXY (\(Redaction.url(url)))")
    }
    if let authorityFile { shown.append("\(prefix)CA_FILE (\(Redaction.visible(authorityFile)))") }
    return shown.joined(separator: " and ")
  }

  private var isURL: Bool { if case .url = proxy { true } else { false } }

  #if os(Linux)
    /// The engine with these settings.
    func transport() throws -> TransportChoice {
      var settings = EngineConfiguration()
      switch proxy {
      case nil, Proxy.none?: settings.proxy = .none
      case .environment?: settings.proxy = .environment
      case .url(let url)?: settings.proxy = .url(url, user: user, password: password)
      }
      if let authorityFile { settings.certificateAuthority = .file(path: authorityFile) }
      return .own(try EngineTransport(settings))
    }
  #elseif canImport(Darwin)
    /// The transport on URLSession with these settings. It has no credentials for a proxy, so the proxy answers with
    /// status 407 if it needs them.
    func transport() throws -> TransportChoice {
      var settings = URLSessionSettings()
      switch proxy {
      case nil, .environment?: settings.proxy = .platform
      case Proxy.none?: settings.proxy = .none
      case .url(let url)?:
        guard let address = ProxyAddress(url), user == nil else {
          throw SettingsError(faults: ["The transport of this platform takes no user for a proxy; remove PROXY_USER."])
        }
        settings.proxy = .host(address.origin.host, port: Int(address.origin.port))
      }
      if let authorityFile { settings.certificateAuthority = .file(path: authorityFile) }
      return .own(try URLSessionTransport(settings))
    }
  #endif
}
