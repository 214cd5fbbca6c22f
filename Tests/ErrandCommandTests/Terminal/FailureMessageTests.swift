import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandCommand

struct FailureMessageTests {
  private struct Reason: Error, CustomStringConvertible { let description = "“x” has no scheme" }

  @Test(
    arguments: [
      (
        APIError(.deadline, .deadline, "late; raise `total`."), .send, .seconds(120),
        "The call did not end within 120.00 s; use --timeout to change this limit."
      ),
      (
        APIError(.deadline, .deadline, "late; raise `total`."), .upload, .milliseconds(500),
        "The upload did not end within 500.0 ms; use --timeout to change this limit."
      ),
      (APIError(.deadline, .deadline, "late"), .download, nil, "late"),
      (
        APIError(.redirect, .redirectRefused, "The redirect leads to http; to allow this, set `a`."), .upload, nil,
        "The redirect leads to http; give the new URL, which -v shows."
      ),
      (APIError(.redirect, .redirectRefused, "The body is used up."), .send, nil, "The body is used up."),
      (
        APIError(.redirect, .tooManyRedirects, "More than 20 times; to allow more, raise `limit`."), .send, nil,
        "More than 20 times; -v shows the redirects."
      ),
      (
        APIError(.transport, .idleTimeout, "No data within 60 s; raise `timeouts.idle` to wait longer."), .download,
        nil,
        "No data within 60 s."
      ),
      (
        APIError(.transfer, .invalidURL, "`freshURL` provided no URL.", cause: Reason()), .download, nil,
        "The first line that --refresh gave is not the URL of the file: “x” has no scheme."
      ),
      (APIError(.build, .invalidURL, "no URL", cause: Reason()), .send, nil, "no URL"),
      (
        APIError(.transport, .tooLarge, "Larger: its body has more than 9 bytes."), .send, nil,
        "Larger: its body has more than 9 bytes. Use -o FILE or a pipe for such a body, without --shape and --cache."
      ),
      (APIError(.transfer, .tooLarge, "too large"), .download, nil, "too large"),
    ] as [(APIError, FailureMessage.Command, Duration?, String)])
  func `cures name options of the command`(
    error: APIError, command: FailureMessage.Command, timeout: Duration?, text: String
  ) {
    #expect(FailureMessage.text(for: error, of: command, timeout: timeout) == text)
  }

  @Test func `an unsupported type names the other format`() async throws {
    let server = try LoopbackServer { _ in .status(415) }
    func error(_ words: String...) async throws -> String {
      let run = try await BuiltCommand.run(["send", "POST", server.url] + words)
      #expect(run.status == 22 && !run.error.contains("`"), "\(run.error)")
      return run.error
    }
    #expect(try await error("a=1").contains(" were sent as a form; if the server reads JSON, use --json.\n"))
    #expect(try await error("a=1", "--json").contains(" were sent as JSON; if the server reads forms, use --form.\n"))
    #expect(try await error().hasSuffix("expected 200–299.\n"))
  }

  @Test func `a redirected body names the new URL`() async throws {
    let other = try LoopbackServer { _ in .ok() }
    let server = try LoopbackServer { _ in .redirect(to: other.url + "/b", status: 307) }
    let run = try await BuiltCommand.run(["send", "POST", server.url, "a=1"])
    #expect(run.status == 1 && run.error.contains("the body to \(other.url); give the new URL, which -v shows.\n"))
    let shown = try await BuiltCommand.run(["send", "POST", server.url, "a=1", "-v"])
    #expect(shown.error.contains("< Location: \(other.url)/b\n") && other.requests.isEmpty, "\(shown.error)")
  }

  @Test func `a large body in memory names the pipe`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 33 << 20) }
    let run = try await BuiltCommand.run(["send", server.url, "--shape", "\"any\""])
    #expect(run.status == 1 && run.error.contains("Use -o FILE or a pipe"), "\(run.error)")
  }

  @Test func `output that is no URL is named`() async throws {
    let server = try LoopbackServer { _ in .status(403) }
    try await DownloadFolder.with { folder async throws in
      let run = try await folder.download(server.url + "/f", "-d", folder.path, "--refresh", "echo not a URL")
      #expect(
        run.status == 1 && run.error.contains("The first line that --refresh gave is not the URL"), "\(run.error)")
    }
  }
}
