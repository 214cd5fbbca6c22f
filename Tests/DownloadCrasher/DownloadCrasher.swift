import Errand
import Foundation

/// A process that downloads, for tests that kill it, race it against another one, or take its disk away.
///
/// `DownloadCrasher URL FILE ROOM PARALLEL`: no file of it may grow beyond `ROOM` bytes, 0 for no limit; so many ranges
/// are fetched side by side. It ends with 0 where the file is there, 2 where another one has it, 3 where the disk is
/// full, 4 where the answer did not fit the part, 5 where the memory has grown by more than 32 MiB, and 1 for anything
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

  /// The most memory that the process has held so far, in KiB; 0 where the system does not say.
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
