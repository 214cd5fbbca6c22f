import Errand
import ErrandHTTP
import ErrandTesting
import ErrandTransfer
import Foundation
import TestSupport
import Testing

@testable import ErrandCommand
@testable import ErrandCore

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
      (APIError(.redirect, .redirectRefused, "The body is used up."), .send, nil, "The body is used up."),
      (
        APIError(.transfer, .invalidURL, "`freshURL` provided no URL.", cause: Reason()), .download, nil,
        "The first line that --refresh gave is not the URL of the file: “x” has no scheme."
      ),
      (APIError(.build, .invalidURL, "no URL", cause: Reason()), .send, nil, "no URL"),
      (APIError(.transfer, .tooLarge, "too large"), .download, nil, "too large"),
      (
        APIError(.transfer, .busy, "It is used."), .download, nil,
        "It is used. Use --wait to wait for the other download."
      ),
    ] as [(APIError, FailureMessage.Command, Duration?, String)])
  func `cures name options of the command`(
    error: APIError, command: FailureMessage.Command, timeout: Duration?, text: String
  ) {
    #expect(FailureMessage.text(for: error, of: command, timeout: timeout) == text)
  }

  /// The error of a redirected POST with a body.
  private static func redirected(to location: String, limit: Int = 10) throws -> APIError {
    let url = try HTTPURL("https://h.example/a")
    let request = HTTPRequest(method: .post, url: url, body: HTTPBody(Data("a".utf8)))
    let response = HTTPResponse(head: ResponseHead(status: 307, fields: [.location: location]), url: url)
    let decision = RedirectDecision.decide(
      response, to: request, visited: [request], policy: .follow(limit: limit))
    guard case .fail(let error) = decision else { throw Reason() }
    return error
  }

  private static func fileFailure(_ body: () throws -> Void) throws -> APIError {
    do { try body() } catch { return try #require(APIError.transfer(error) as? APIError) }
    throw Reason()
  }

  /// Errors with the messages of the library, so that a cure which it words differently is noticed here, and the
  /// messages of the command.
  private static func cures() throws -> [(APIError, FailureMessage.Command, String)] {
    let origin = try HTTPURL("https://h.example/a").origin
    let larger = "The response is larger than the limits allow: "
    let expansion = #expect(throws: TransportFailure.self) {
      try BodyExpansion().check(decoded: 67_174_400, coded: 66_560)
    }
    return [
      (
        try redirected(to: "http://h.example/b"), .upload,
        "The redirect leads from https to http at http://h.example; give the new URL, which -v shows."
      ),
      (
        try redirected(to: "https://other.example/b"), .send,
        "The redirect would send the body to https://other.example; give the new URL, which -v shows."
      ),
      (
        try redirected(to: "/b", limit: 0), .send,
        "The call was redirected more than 0 times; -v shows the redirects."
      ),
      (
        APIError(.transport, .connectTimeout, FailureText.connectTimeout(origin, after: nil)), .send,
        "No connection to https://h.example was established in time."
      ),
      (
        APIError(.transport, .idleTimeout, FailureText.idleTimeout(origin, after: nil)), .download,
        "No data was transferred to or from https://h.example in time."
      ),
      (
        APIError(.transport, .tooLarge, TransportFailure.bodyTooLarge(9).description), .send,
        larger + "its body has more than 9 bytes. "
          + "Use -o FILE or a pipe for such a body, without --shape and --cache."
      ),
      (
        APIError(.transport, .tooLarge, try #require(expansion).description), .send,
        larger + "content decoding expanded 66560 bytes of its body to 67174400 bytes, more than 200 times as many."
      ),
      (
        try fileFailure {
          if let failure = FileFailure.unusable(folder: "/dev/null", SystemFiles()) { throw failure }
        }, .download,
        "The folder “null” cannot be used: it is a file; choose a folder, or name the file of the download with -o FILE."
      ),
      (
        try fileFailure { _ = try PartFile.open(target: "/usr") }, .download,
        "The file “usr” could not be opened: the target is a folder; to download into the folder, use -d DIR."
      ),
    ]
  }

  @Test func `cures of the library name options`() throws {
    for (error, command, text) in try Self.cures() {
      let message = FailureMessage.text(for: error, of: command, timeout: nil)
      #expect(message == text && !message.contains("`"))
    }
  }

  @Test func `a folder with the server's name is named`() async throws {
    let server = try LoopbackServer { _ in
      .ok("film").setting("Content-Disposition", to: "attachment; filename=\"film.mp4\"")
    }
    try await DownloadFolder.with { folder async throws in
      try FileManager.default.createDirectory(
        at: folder.url.appending(path: "film.mp4"), withIntermediateDirectories: true)
      let run = try await folder.download(server.url + "/f", "-J", "-d", folder.path)
      #expect(run.status == ExitCode.exists.rawValue && !run.error.contains("`"), "\(run.error)")
      #expect(run.error.contains("the target is a folder; remove it, or name the file with -o FILE.\n"), "\(run.error)")
    }
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
