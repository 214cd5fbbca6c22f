import Errand
import Foundation

/// A process that downloads, for tests that kill it, run it against another process, or fill its disk.
///
/// Usage: `DownloadCrasher URL FILE ROOM PARALLEL`. No file of the process may grow beyond `ROOM` bytes (0 for no
/// limit); `PARALLEL` ranges are fetched at a time. Exits with 0 if the file is complete, 2 if another process holds
/// it, 3 if the disk is full, 4 if the response does not match the part file, 5 if memory grew by more than 32 MiB, and
/// 1 for any other error.
/// else.
@main
enum DownloadCrasher {
  static func main() async {
    let words = CommandLine.arguments
    guard words.count == 5, let room = Int(words[3]), let parallel = Int(words[4]) else { exit(64) }
    if room > 0 { limit(to: room) }
    let before = peak
    var download = Download.to(URL(filePath: words[2]))
    download.takeUps = 0
    download.parallel = parallel
    do throws(APIError) {
      _ = try await APIClient(baseURL: "").send(FileDownload(words[1], download))
      exit(peak - before > 32 << 10 ? 5 : 0)
    } catch {
      switch error.code {
      case .busy: exit(2)
      case .diskFull: exit(3)
      case .resumeMismatch: exit(4)
      default: exit(1)
      }
    }
  }

  /// The peak memory of the process in KiB; 0 if the system does not report it.
  private static var peak: Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
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
