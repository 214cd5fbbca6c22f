import Errand
import ErrandOutbox
import Foundation

/// A process that uses an outbox until it is killed. `Scripts/outbox-kills.py` and ErrandOutboxTests start it.
///
/// `OutboxCrasher MODE FOLDER URL NAME ACCOUNT`
/// - `work` adds entries for the account, and sends until the process is killed.
/// - `drain` sends until no entry of the account waits, then prints the dead letters.
/// - `measure`, with only a folder, measures an outbox.
///
/// Variables: `COUNT` (entries to add), `KILL_AT` and `KILL_NUMBER` (end the process when it has reached a point of
/// that name so many times), `CLOCK` (milliseconds by which the clock is wrong), `FILE_LIMIT` (bytes that a file may
/// have).
@main
enum OutboxCrasher {
  static func main() async {
    let words = CommandLine.arguments
    if words.count == 3, words[1] == "measure" {
      do { try await Measurement.run(URL(filePath: words[2])) } catch { print("error \(error)") }
      return
    }
    guard words.count == 6 else { exit(64) }
    do {
      let run = try await CrasherRun(folder: URL(filePath: words[2]), url: words[3], name: words[4], account: words[5])
      switch words[1] {
      case "work": try await run.work()
      case "drain": try await run.drain()
      default: exit(64)
      }
    } catch {
      print("error \(error)")
      exit(1)
    }
  }
}
