import Foundation
import TestSupport
import Testing

/// The environment of a process cannot weaken its TLS.
struct EnvironmentTests {
  private func address(_ variable: String) throws -> String {
    try #require(
      ProcessInfo.processInfo.environment[variable],
      "\(variable) is not set: run the tests by `make test`, which starts the servers")
  }

  /// Variables and files that other clients and OpenSSL read and that would disable their checks.
  private func environment(_ folder: DownloadFolder) throws -> [String: String] {
    let authority = try address("ERRAND_NGINX_CA")
    let home = folder.path
    try Data("insecure\ncacert = \"\(authority)\"\n".utf8).write(to: URL(filePath: folder.file(".curlrc")))
    let rules = """
      openssl_conf = all
      [all]
      ssl_conf = modules
      [modules]
      system_default = weak
      [weak]
      MinProtocol = TLSv1
      CipherString = DEFAULT:@SECLEVEL=0
      VerifyMode = None

      """
    try Data(rules.utf8).write(to: URL(filePath: folder.file("openssl.cnf")))
    return [
      "SSL_CERT_FILE": authority, "SSL_CERT_DIR": URL(filePath: authority).deletingLastPathComponent().path,
      "CURL_CA_BUNDLE": authority, "REQUESTS_CA_BUNDLE": authority, "URLSessionCertificateAuthorityInfoFile": authority,
      "CURL_HOME": home, "HOME": home, "XDG_CONFIG_HOME": home, "OPENSSL_CONF": folder.file("openssl.cnf"),
      "NODE_TLS_REJECT_UNAUTHORIZED": "0", "PYTHONHTTPSVERIFY": "0", "GIT_SSL_NO_VERIFY": "1",
    ]
  }

  @Test(arguments: [
    "ERRAND_NGINX_TLS", "ERRAND_NGINX_EXPIRED", "ERRAND_NGINX_WRONG_HOST", "ERRAND_NGINX_SELF_SIGNED",
    "ERRAND_NGINX_TLS_1_1",
  ])
  func `the environment does not weaken TLS`(variable: String) async throws {
    try await DownloadFolder.with { folder in
      let url = try address(variable) + "/200b"
      let run = try await BuiltCommand.run(["send", url], environment: environment(folder))
      #expect(run.status == 60 && run.output.isEmpty, "\(run.status): \(run.error)")
    }
  }

  /// The handshake creates keys before the certificate is rejected.
  @Test func `TLS keys are not logged`() async throws {
    try await DownloadFolder.with { folder in
      let (url, keys) = (try address("ERRAND_NGINX_TLS") + "/200b", folder.file("keys"))
      let run = try await BuiltCommand.run(["send", url], environment: ["SSLKEYLOGFILE": keys])
      #expect(run.status == 60)
      #expect((FileManager.default.contents(atPath: keys) ?? Data()).isEmpty)
    }
  }
}
