#if os(Linux)
  import CCurl
  import CErrandCurl
  import Foundation

  extension CurlConfiguration {
    /// The version with ``HTTPVersion/automatic`` decided for the libcurl that runs.
    var effectiveVersion: HTTPVersion { effectiveVersion(with: .running) }

    func effectiveVersion(with version: CurlVersion) -> HTTPVersion {
      guard httpVersion == .automatic else { return httpVersion }
      return version.offersHTTP2 ? .http2 : .http1Only
    }

    /// Sets what the configuration says on a new easy handle.
    func apply(to easy: UnsafeMutableRawPointer) {
      applyProxy(to: easy)
      let version =
        switch minimumTLSVersion {
        case .tls1_2: CURL_SSLVERSION_TLSv1_2
        case .tls1_3: CURL_SSLVERSION_TLSv1_3
        }
      errand_easy_set_long(easy, CURLOPT_SSLVERSION, Int(version))
      if proxy != .none { errand_easy_set_long(easy, CURLOPT_PROXY_SSLVERSION, Int(version)) }
      if let unixSocket { errand_easy_set_string(easy, CURLOPT_UNIX_SOCKET_PATH, unixSocket) }
      errand_easy_set_long(easy, CURLOPT_MAXAGE_CONN, max(1, Int(clamping: maximumIdleAge.components.seconds)))
    }

    /// The file of the system's authorities; nil where it has only a directory of them.
    static let systemAuthorityFile: String? = {
      guard let file = errand_system_authorities() else { return nil }
      let path = String(cString: file)
      return FileManager.default.isReadableFile(atPath: path) ? path : nil
    }()

    /// Whether names are looked for among a certificate's alternative names only. A proxy that is spoken to over TLS
    /// has contexts of its own, which cannot be told from the server's.
    var checksAlternativeNames: Bool {
      switch proxy {
      case .none: true
      case .url(let url, _, _): !url.lowercased().hasPrefix("https:")
      case .environment: false
      }
    }

    private func applyProxy(to easy: UnsafeMutableRawPointer) {
      switch proxy {
      case .environment: break
      case .none: errand_easy_set_string(easy, CURLOPT_PROXY, "")
      case .url(let url, let user, let password):
        errand_easy_set_string(easy, CURLOPT_PROXY, url)
        errand_easy_set_string(easy, CURLOPT_NOPROXY, "")
        if let user { errand_easy_set_string(easy, CURLOPT_PROXYUSERNAME, user) }
        if let password { errand_easy_set_string(easy, CURLOPT_PROXYPASSWORD, password) }
      }
    }

    /// The overrides as libcurl's list, and what a resolver found for one more place; freed by whoever asked for it.
    func addressList(adding found: String? = nil) -> UnsafeMutablePointer<curl_slist>? {
      var list: UnsafeMutablePointer<curl_slist>?
      for (place, address) in addressOverrides { list = curl_slist_append(list, "\(place):\(address)") }
      if let found { list = curl_slist_append(list, found) }
      return list
    }
  }
#endif
