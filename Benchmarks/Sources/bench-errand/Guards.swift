import BenchHarness
import Errand

/// Retries, an account, a breaker and a rate limit, on a server that never fails.
enum Guards {
  static func set(on client: APIClient) async {
    let accounts = CredentialStore { old, _ in old }
    do {
      try await accounts.login("ada", with: AccountCredential(.bearer("0123456789abcdef0123456789abcdef")))
    } catch {
      Benchmark.fail("bench-errand: \(error)", status: 1)
    }
    client.configure { configuration in
      configuration.credentials = accounts
      configuration.retries = .standard
      configuration.admission = AdmissionLimits(rates: [HostRate("127.0.0.1", requests: 1_000_000, burst: 1_000_000)])
      configuration.servers.breaker = BreakerRule()
    }
  }
}
