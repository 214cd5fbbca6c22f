import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// The login data of netrc files.
struct NetrcTests {
  private static let file = """
    # the servers of the team
    machine api.example.com
      login ada password open#sesame account x
    macdef init
    cd /pub
    machine hidden.example login no password no

    machine Quoted.Example login "a b" password "x\\"y\\\\z\\t"
    machine empty.example
    machine api.example.com login second password second
    default login anonymous password guest
    machine late.example login late
    """

  @Test(arguments: [
    ("api.example.com", "ada", "open#sesame"), ("API.example.com", "ada", "open#sesame"),
    ("quoted.example", "a b", "x\"y\\z\t"), ("late.example", "late", ""), ("other.example", "anonymous", "guest"),
    ("hidden.example", "anonymous", "guest"), ("sub.api.example.com", "anonymous", "guest"),
  ])
  func `host has its login`(host: String, user: String, password: String) throws {
    #expect(try Netrc(Self.file).credential(for: host) == .basic(user: user, password: password))
  }

  @Test func `entry without a name has no credential`() throws {
    #expect(try Netrc(Self.file).credential(for: "empty.example") == nil)
    #expect(try Netrc("").credential(for: "a") == nil)
    #expect(try Netrc("machine a login b").credential(for: "c") == nil)
  }

  @Test(arguments: [
    ("machine", 1, "\"machine\" has no value after it"), ("login a", 1, "\"login\" has no \"machine\" before it"),
    ("machine a\nlogin", 2, "\"login\" has no value after it"),
    ("machine a login \"b", 1, "a text has no closing quote"),
    ("\n\nmachine a pasword secret", 3, "a word is none of machine, default, login, password, account and macdef"),
  ])
  func `fault names its line`(text: String, line: Int, clause: String) {
    let error = #expect(throws: APIError.self) { try Netrc(text) }
    #expect(error?.message == "Line \(line) of the netrc file is invalid: \(clause); correct the file.")
  }

  @Test func `file is read on request`() throws {
    let folder = try UploadFolder()
    let file = try folder.file("netrc", Data(Self.file.utf8))
    #expect(try Netrc(contentsOf: file).credential(for: "late.example") != nil)
    let missing = #expect(throws: APIError.self) { try Netrc(contentsOf: folder.url.appending(path: "none")) }
    #expect(missing?.code == .file && missing?.message.hasSuffix("/none cannot be read: it does not exist.") == true)
    let binary = try folder.file("binary", Data([0xFF]))
    #expect(throws: APIError.self) { try Netrc(contentsOf: binary) }
  }

  @Test func `every truncated file is handled`() {
    for length in 0..<Self.file.utf8.count { _ = try? Netrc(String(Self.file.prefix(length))) }
  }

  @Test(arguments: Carrier.allCases) func `credential is sent to its host`(carrier: Carrier) async throws {
    let server = try LoopbackServer { .ok($0.headers["Authorization"] ?? "none") }
    defer { server.stop() }
    let logins = try Netrc("machine 127.0.0.1 login ada password secret")
    let transport = carrier.transport()
    let client = transport.client(at: server) {
      $0.credentials = logins.credential(for: "127.0.0.1").map { FixedCredential($0) }
    }
    #expect(try await client.send(Ask<String>()) == "Basic YWRhOnNlY3JldA==")
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test func `dump shows no password`() throws {
    let logins = try Netrc(Self.file)
    var text = ""
    dump(logins, to: &text)
    #expect(!"\(logins) \(String(reflecting: logins)) \(text)".contains("sesame"))
  }
}
