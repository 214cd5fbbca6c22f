// On Linux this file is only type-checked against stubs (Scripts/apple.py), never run. All decisions about challenges
// are made in `SessionTrust`, which is tested on every platform.
#if canImport(Darwin)
  import CryptoKit
  import ErrandHTTP
  import Foundation
  import Security

  /// A challenge from URLSession. The Security framework checks the server's certificate.
  struct PlatformChallenge: SessionChallenge {
    let space: URLProtectionSpace

    var kind: SessionChallengeKind {
      switch space.authenticationMethod {
      case NSURLAuthenticationMethodServerTrust: .serverTrust
      case NSURLAuthenticationMethodClientCertificate: .clientCertificate
      default: .other
      }
    }

    var host: String { space.host }

    var certificate: Data? {
      let chain = space.serverTrust.flatMap { SecTrustCopyCertificateChain($0) } as? [SecCertificate]
      return chain?.first.map { SecCertificateCopyData($0) as Data }
    }

    func sha256(of data: Data) -> Data { Data(SHA256.hash(data: data)) }

    func judge(anchors: [Data]?) -> SessionVerdict {
      guard let trust = space.serverTrust else {
        return .refused(code: Int(errSecParam), words: "URLSession provided no server trust")
      }
      if let anchors {
        let certificates = anchors.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
        let statuses = [
          SecTrustSetAnchorCertificates(trust, certificates as CFArray), SecTrustSetAnchorCertificatesOnly(trust, true),
        ]
        if let bad = statuses.first(where: { $0 != errSecSuccess }) { return .refused(code: Int(bad), words: "") }
      }
      var error: CFError?
      if SecTrustEvaluateWithError(trust, &error) { return .trusted }
      let reason = error.map { ($0 as any Error) as NSError }
      return .refused(code: reason?.code ?? 0, words: reason?.localizedDescription ?? "")
    }
  }

  extension SessionIdentity {
    /// The certificate as a credential for URLSession; nil if the bytes cannot be read with this passphrase. The
    /// credential is kept only in memory.
    var credential: URLCredential? {
      let options: [String: Any] = [
        kSecImportExportPassphrase as String: passphrase, kSecImportToMemoryOnly as String: true,
      ]
      var items: CFArray?
      guard SecPKCS12Import(pkcs12 as CFData, options as CFDictionary, &items) == errSecSuccess,
        let item = (items as? [[String: Any]])?.first,
        let found = item[kSecImportItemIdentity as String].map({ $0 as CFTypeRef }),
        CFGetTypeID(found) == SecIdentityGetTypeID()
      else { return nil }
      let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
      // The type ID was checked above; `as?` does not support Core Foundation types.
      let identity = unsafeDowncast(found, to: SecIdentity.self)
      return URLCredential(identity: identity, certificates: Array(chain.dropFirst()), persistence: .forSession)
    }
  }

  extension SessionRouter {
    /// Answers a challenge of URLSession on a separate queue, because the Security framework may use the network to
    /// check a certificate.
    func answer(
      _ challenge: URLAuthenticationChallenge, for exchange: SessionExchange,
      _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      queues.runTrustCheck { [trust, queues] in
        let space = challenge.protectionSpace
        switch trust.answer(to: PlatformChallenge(space: space), for: exchange.exchange.request.url.origin) {
        case .platform: completionHandler(.performDefaultHandling, nil)
        case .trust: completionHandler(.useCredential, space.serverTrust.map { URLCredential(trust: $0) })
        case .show(let identity): completionHandler(.useCredential, identity.credential)
        case .refuse(let failure):
          queues.runCallback {
            exchange.refuse(failure)
            completionHandler(.cancelAuthenticationChallenge, nil)
          }
        }
      }
    }
  }
#endif
