import Errand
import ErrandTesting
import Foundation
import Testing

/// The server is not what the request expects.
struct ServerMistakeTests {
  private struct GetUser: APIRequest { let path: Path = "/users/7" }

  @Test func `Nothing listens at the port`() async throws {
    // The port stays bound during the test, so that no server of another process gets it.
    let refusing = try RefusingPort()
    defer { withExtendedLifetime(refusing) {} }
    let port = refusing.port
    // The mistake:
    let client = APIClient(baseURL: "http://localhost:\(port)")
    // What Errand says:
    await MistakeClient(client).says(
      .refused, to: GetUser(),
      """
      Nothing listens at http://localhost:8080, or the host cannot be reached (Connection refused).
      """)
  }

  @Test func `The URL says https, but the server speaks http`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    defer { server.stop() }
    let port = server.port
    // The mistake:
    let client = APIClient(baseURL: "https://localhost:\(port)")
    // What Errand says:
    await MistakeClient(client).says(
      .tls, to: GetUser(),
      """
      https://localhost:8080 does not speak TLS on this port, but probably plain HTTP; use http in the URL, or the \
      port for https (wrong version number).
      """)
  }

  @Test func `The server is slower than the time-out`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    defer { server.stop() }
    let client = APIClient(baseURL: "http://localhost:\(server.port)")
    // The mistake:
    struct GetReport: APIRequest {
      let path: Path = "/report"
      let timeouts = Timeouts(idle: .milliseconds(100))
    }
    // What Errand says:
    await MistakeClient(client).says(
      .idleTimeout, to: GetReport(),
      """
      No data was transferred to or from http://localhost:8080 within 0.1 seconds; raise `timeouts.idle` to wait \
      longer.
      """)
  }

  @Test func `A form is sent to a server that reads JSON`() async {
    // The mistake:
    struct Register: APIRequest {
      let path: Path = "/accounts"
      let method: HTTPMethod = .post
      let arguments: Arguments = ["name": "Ada"]
    }
    let answer = ScriptedAnswer.status(415)
    // What Errand says:
    await MistakeClient(answer).says(
      .status, to: Register(),
      """
      The server answered 415; expected 200–299. The arguments were sent as a form; if the server reads JSON, set \
      `arguments` of the `formats` to `.jsonByMethod`.
      """)
  }

  @Test func `The server redirects from https to http`() async {
    // The mistake:
    struct GetOldPage: APIRequest { let path: Path = "/old" }
    let answer = ScriptedAnswer.redirect(to: "http://api.example.com/new")
    // What Errand says:
    await MistakeClient(answer).says(
      .redirectRefused, to: GetOldPage(),
      """
      The redirect leads from https to http at http://api.example.com; to allow this, set `allowsDowngrade` in the \
      redirect policy.
      """)
  }

  @Test func `The server redirects in a circle`() async {
    // The mistake:
    struct GetPage: APIRequest { let path: Path = "/page" }
    let answer = ScriptedAnswer.redirect(to: "/page")
    // What Errand says:
    await MistakeClient(answer).says(
      .redirectLoop, to: GetPage(),
      """
      The redirects form a loop: they lead back to https://api.example.com/page.
      """)
  }

  @Test func `The server sends another content type`() async {
    // The mistake:
    struct GetTable: APIRequest {
      let path: Path = "/table"
      let validation = ResponseValidation(contentTypes: ["text/csv"])
    }
    let answer = ScriptedAnswer.text("<html>")
    // What Errand says:
    await MistakeClient(answer).says(
      .contentType, to: GetTable(),
      """
      The response has the content type "text/plain; charset=utf-8"; expected text/csv.
      """)
  }
}
