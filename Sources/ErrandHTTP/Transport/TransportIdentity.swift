import ErrandSupport

/// Computes the identity of a transport of this library: see ``Transport/identity``.
package enum TransportIdentity {
  /// A digest of the client certificates, and of the settings that send the requests for a URL to another server than
  /// the URL names. Nil if none of them is set.
  package static func digest(
    _ certificates: [ClientCertificate], unixSocket: String? = nil, addressOverrides: [String: String] = [:]
  ) -> String? {
    let certificates = ClientCertificate.identity(of: certificates)
    if unixSocket == nil, addressOverrides.isEmpty { return certificates }
    var hash = StableHash()
    for text in [certificates, unixSocket] { hash.add(text ?? "") }
    for (place, addresses) in addressOverrides.sorted(by: { $0.key.precedesByBytes($1.key) }) {
      hash.add(place)
      hash.add(addresses)
    }
    return hash.text
  }
}
