import ErrandURLSession
import Foundation
import Synchronization
import Testing
import TransportChecks

/// A process that holds the transport on URLSession to one check of the conformance: `TransportProbe NAME`.
///
/// It ends with 0 where the check passes, with 1 where it does not, and then prints why; with 2 where the transport says
/// that it cannot do what the check needs. 64 is a name that no check has. Without a name it prints all there are.
@main
enum TransportProbe {
  static func main() async {
    let name = CommandLine.arguments.dropFirst().joined(separator: " ")
    let checks = TransportConformance.every + SessionChecks.all
    if name.isEmpty { return checks.forEach { print($0.name) } }
    guard let check = checks.first(where: { $0.name == name }) else { exit(64) }
    let transport = URLSessionTransport()
    guard transport.capabilities.isSuperset(of: check.needs) else { exit(2) }
    let issues = Mutex(0)
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
