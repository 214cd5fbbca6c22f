import ErrandSupport
import ErrandURLSession
import Foundation
import Testing
import TransportChecks

/// A process that runs one conformance check against the URLSession transport: `TransportProbe NAME`.
///
/// Exits with 0 if the check passes; with 1 if it fails, and prints the reason; with 2 if the transport lacks a
/// capability that the check needs; with 64 if no check has that name. Without a name it prints the names of all
/// checks.
@main
enum TransportProbe {
  static func main() async {
    let name = CommandLine.arguments.dropFirst().joined(separator: " ")
    let checks = TransportConformance.every + SessionChecks.all
    if name.isEmpty { return checks.forEach { print($0.name) } }
    guard let check = checks.first(where: { $0.name == name }) else { exit(64) }
    let transport = URLSessionTransport()
    guard transport.capabilities.isSuperset(of: check.needs) else { exit(2) }
    let issues = Locked(0)
    await withKnownIssue(isIntermittent: true) {
      do {
        try await check.run(transport)
      } catch {
        Issue.record(error)
      }
    } matching: { issue in
      print(issue)
      issues.withLock { $0 += 1 }
      return true
    }
    exit(issues.withLock { $0 } == 0 ? 0 : 1)
  }
}
