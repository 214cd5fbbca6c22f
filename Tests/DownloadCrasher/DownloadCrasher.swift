import Errand
import Foundation

/// A process that downloads, for tests that kill it, race it against another one, or take its disk away.
///
/// `DownloadCrasher URL FILE ROOM`: no file of it may grow beyond `ROOM` bytes; 0 for no limit. It ends with 0 where
/// the file is there, 2 where another one has it, 3 where the disk is full, 4 where the answer did not fit the part, and
/// 1 for anything else.
@main
enum DownloadCrasher {
  static func main() async {
    let words = CommandLine.arguments
    guard words.count == 4, let room = Int(words[3]) else { exit(64) }
    if room > 0 { limit(to: room) }
    var download = Download.to(URL(filePath: words[2]))
    download.takeUps = 0
    do throws(APIError) {
      _ = try await APIClient(baseURL: "").send(FileDownload(words[1], download))
      exit(0)
    } catch {
      switch error.code {
      case .busy: exit(2)
      case .diskFull: exit(3)
      case .resumeMismatch: exit(4)
      default: exit(1)
      }
    }
  }

  private static func limit(to room: Int) {
    signal(SIGXFSZ, SIG_IGN)
    var size = rlimit()
    getrlimit(fileSize, &size)
    size.rlim_cur = rlim_t(room)
    setrlimit(fileSize, &size)
  }

  #if canImport(Darwin)
    private static let fileSize = RLIMIT_FSIZE
  #else
    private static let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #endif
}
