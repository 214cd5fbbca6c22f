import ErrandCache
import ErrandCore
import Foundation

/// A process that uses a store's folder. Tests kill it, run two of them at the same time, or make its disk unwritable.
///
/// `CacheCrasher MODE FOLDER LIMIT NUMBER`; exits with 0 if every body that it read was correct.
@main
enum CacheCrasher {
  static func main() async {
    let words = CommandLine.arguments
    guard words.count == 5, let limit = Int(words[3]), let number = UInt64(words[4]) else { exit(64) }
    let run = CacheRun(folder: URL(filePath: words[2]), limit: limit, number: number)
    switch words[1] {
    case "fill": await run.fill()
    case "write": await run.writeForever()
    case "race": await run.race()
    case "full": await run.fillFullDisk()
    case "readonly": await run.useReadOnlyFolder()
    case "purge": await run.removeMany(number)
    case "open": await run.writeWithOpenMask()
    default: exit(64)
    }
    exit(run.isRight ? 0 : 1)
  }
}
