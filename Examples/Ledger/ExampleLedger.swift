import Errand
import Foundation

/// The accounting of a small firm: one shared client, a login that applies to all calls, and one service for each area.
@main
enum ExampleLedger {
  static func main() async {
    do {
      try await Ledger(LedgerServer(), client: .shared, console: Console()).play()
    } catch {
      FileHandle.standardError.write(Data("ExampleLedger: \(error)\n".utf8))
      exit(1)
    }
  }
}
