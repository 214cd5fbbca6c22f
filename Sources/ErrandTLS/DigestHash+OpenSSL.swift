#if os(Linux)
  import CErrandTLS
  package import ErrandHTTP
  import Foundation

  extension DigestHash {
    /// The hash functions of Digest authentication that OpenSSL can compute, the preferred one first.
    package static let available = [
      DigestHash(name: "sha-256") { hash($0, errand_hash_sha256) },
      DigestHash(name: "md5") { hash($0, errand_hash_md5) },
    ].filter { !$0.function(Data()).isEmpty }

    private static func hash(_ data: Data, _ hash: errand_hash) -> Data {
      var digest = [UInt8](repeating: 0, count: 32)
      let count = data.withUnsafeBytes { errand_hash_bytes(hash, $0.baseAddress, $0.count, &digest) }
      return Data(digest.prefix(count))
    }
  }
#endif
