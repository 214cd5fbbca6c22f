import Errand
import Foundation
import Testing

@testable import ErrandCommand

struct DownloadEndTests {
  private static let file = DownloadedFile(url: URL(filePath: "/x"), bytes: 3)
  private static let broken = APIError(.transport, .init(rawValue: "truncated"), "")
  private static let refused = APIError(.validate, .status, "")

  @Test(
    arguments: [
      ([.done(file), .alreadyComplete(3)], false, .success), ([.done(file)], true, .success),
      ([.done(file), .failed(refused, kept: 0), .failed(broken, kept: 1)], false, .status),
      ([.failed(broken, kept: 1), .failed(refused, kept: 0)], false, .broken),
      ([.failed(broken, kept: 1), .stopped(kept: 0)], true, .interrupted),
      ([.failed(broken, kept: 1), .done(file)], true, .interrupted),
    ] as [([DownloadEnd], Bool, ExitCode)])
  func `the first failure sets the exit status`(ends: [DownloadEnd], isInterrupted: Bool, code: ExitCode) {
    #expect(DownloadCommand.code(of: ends, isInterrupted: isInterrupted) == code)
  }

  @Test(
    arguments: [
      (["u"], false, "resumes the download."), (["u", "-c"], false, "resumes the download."),
      (["u", "--fresh"], false, "without --fresh resumes the download."),
      (["u"], true, "with -c resumes the download and skips complete files."),
      (["u", "-c"], true, "resumes the download."),
      (["u", "--fresh"], true, "with -c instead of --fresh resumes the download and skips complete files."),
    ])
  func `the advice names a valid command`(words: [String], hasComplete: Bool, advice: String) throws {
    let options = try DownloadParser.parse(words)
    let others = hasComplete ? [DownloadEnd.alreadyComplete(3), .done(Self.file)] : [.failed(Self.refused, kept: 0)]
    #expect(
      DownloadCommand.sentence(on: others + [.stopped(kept: 5)], options)
        == "The received bytes are kept; the same command \(advice)")
    #expect(DownloadCommand.sentence(on: others + [.stopped(kept: 0)], options) == nil)
  }

  @Test(
    arguments: [
      (.done(file), true, .done), (.alreadyComplete(3), false, .done),
      (.stopped(kept: 1 << 20), true, .stopped("stopped, 1.0 MiB kept")),
      (.stopped(kept: 0), false, .stopped("stopped")),
      (.stopped(kept: 0), true, .stopped("stopped, nothing kept")),
      (.failed(broken, kept: 5), true, .failed("failed, 5 bytes kept")),
      (.failed(broken, kept: 0), true, .failed("failed, nothing kept")),
      (.failed(broken, kept: 0), false, .failed("failed")), (.failed(refused, kept: 0), true, .failed("failed")),
      (.failed(refused, kept: 5), true, .failed("failed, 5 bytes kept")),
    ] as [(DownloadEnd, Bool, ProgressState.Phase)])
  func `each end has its text`(end: DownloadEnd, hasBegun: Bool, phase: ProgressState.Phase) {
    #expect(end.phase(hasBegun: hasBegun) == phase)
  }
}
