import Errand
import ErrandCore
import ErrandTesting
import Testing

struct URLJoiningTests {
  @Test(arguments: [
    ("http://h", "get", "http://h/get"), ("http://h", "/get", "http://h/get"), ("http://h/", "get", "http://h/get"),
    ("http://h/", "/get", "http://h/get"), ("http://h/v1", "get", "http://h/v1/get"),
    ("http://h/v1", "/get", "http://h/v1/get"), ("http://h/v1/", "get", "http://h/v1/get"),
    ("http://h/v1/", "/get", "http://h/v1/get"), ("http://h", "", "http://h"), ("http://h/", "", "http://h/"),
    ("http://h/v1", "", "http://h/v1"), ("http://h/v1/", "", "http://h/v1/"), ("http://h", "/", "http://h/"),
    ("http://h/v1", "/", "http://h/v1/"), ("http://h/v1/", "/", "http://h/v1/"),
    ("http://h", "get/", "http://h/get/"), ("http://h/v1", "/get/", "http://h/v1/get/"),
    ("http://h", "//get", "http://h//get"), ("http://h/a//", "get", "http://h/a//get"),
    ("http://h/a//b", "c//d", "http://h/a//b/c//d"), ("http://h/a/../b", "c/./d", "http://h/a/../b/c/./d"),
    ("HTTP://H.Example:8080/V1", "Get", "http://h.example:8080/V1/Get"),
    ("https://[::1]:8443", "x", "https://[::1]:8443/x"),
  ])
  func `base and path join with one slash`(base: String, path: String, expected: String) async throws {
    #expect(try await ScriptedClient(baseURL: base).url(Sending(path: RequestPath(path))) == expected)
  }

  @Test(arguments: [
    ("http://h", "p?", "http://h/p?"), ("http://h", "p?#f", "http://h/p?"), ("http://h", "p", "http://h/p"),
    ("http://h?", "p", "http://h/p?"), ("http://h", "p?a[]=1&b[c]=[", "http://h/p?a%5B%5D=1&b%5Bc%5D=%5B"),
    ("http://h", "http://o/p?", "http://o/p?"), ("http://h", "p?&", "http://h/p?&"),
  ])
  func `empty query keeps its question mark`(base: String, path: String, expected: String) async throws {
    #expect(try await ScriptedClient(baseURL: base).url(Sending(path: RequestPath(path))) == expected)
  }

  /// RFC 3986 sections 3.3 and 3.4: illegal characters are escaped; legal characters and existing escapes stay.
  @Test func `every character is legal or escaped`() throws {
    let unreserved = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
    let path = unreserved.union("!$&'()*+,;=:@/".utf8)
    for byte in UInt8(0x20)...0x7E where byte != UInt8(ascii: "#") && byte != UInt8(ascii: "%") {
      let text = String(UnicodeScalar(byte))
      let escaped = "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      let query = try HTTPURL("http://h/?" + text).query
      #expect(query == (path.contains(byte) || byte == UInt8(ascii: "?") ? text : escaped))
      if byte == UInt8(ascii: "?") { continue }
      #expect(try HTTPURL("http://h/" + text).path == "/" + (path.contains(byte) ? text : escaped))
    }
    #expect(try HTTPURL("http://h/%41?%5b%41").string == "http://h/%41?%5b%41")
  }

  @Test func `range request accepts no content coding`() async throws {
    let server = try LoopbackServer { .ok($0.headers["Accept-Encoding"] ?? "none") }
    let client = APIClient(baseURL: server.url)
    #expect(try await client.send(Ask<String>()) == "gzip, br, zstd")
    #expect(try await client.send(Ask<String>(headers: ["Range": "bytes=0-9"])) == "identity")
    #expect(try await client.send(Ask<String>(headers: ["Range": "bytes=0-9", "Accept-Encoding": "gzip"])) == "gzip")
  }

  @Test func `finished range request accepts no content coding`() async throws {
    let server = try LoopbackServer { .ok($0.headers["Accept-Encoding"] ?? "none") }
    let client = APIClient(baseURL: server.url)
    let cases: [(HTTPFields, String)] = [
      (["Range": "bytes=0-9"], "identity"), (["Range": "bytes=0-9", "Accept-Encoding": "br"], "br"),
      ([:], "gzip, br, zstd"),
    ]
    for (fields, coding) in cases {
      #expect(try await client.send(Ask<String>(finished: HTTPRequest(url: server.url, fields: fields))) == coding)
    }
    client.configure {
      $0.interceptors.calls = [
        Around { request, _, next in
          var request = request
          request.fields.replace(HTTPField("Range", "bytes=0-9"))
          return try await next(request)
        }
      ]
    }
    #expect(try await client.send(Ask<String>()) == "identity")
    #expect(try await client.send(Ask<String>(headers: ["Accept-Encoding": "gzip"])) == "gzip")
  }

  @Test(arguments: [
    ("http://h", "get?a=1", "http://h/get?a=1&x=y"), ("http://h", "?a=1", "http://h?a=1&x=y"),
    ("http://h/v1", "?a=1", "http://h/v1?a=1&x=y"), ("http://h/v1?k=1", "get", "http://h/v1/get?k=1&x=y"),
    ("http://h/v1/?k=1", "/get?a=1", "http://h/v1/get?k=1&a=1&x=y"), ("http://h?k=1", "get", "http://h/get?k=1&x=y"),
    ("http://h", "get#frag", "http://h/get?x=y"), ("http://h", "get?a=1#frag", "http://h/get?a=1&x=y"),
    ("http://h", "get#frag?b=2", "http://h/get?x=y"), ("http://h", "#frag", "http://h?x=y"),
    ("http://h/v1#frag", "get", "http://h/v1/get?x=y"), ("http://h", "get?", "http://h/get?x=y"),
    ("http://h", "get?a=what?", "http://h/get?a=what?&x=y"), ("http://h?k=what?", "get", "http://h/get?k=what?&x=y"),
    ("http://h", "get?u=http://o/p", "http://h/get?u=http://o/p&x=y"),
    ("http://h", "get?a=b c&d=中", "http://h/get?a=b%20c&d=%E4%B8%AD&x=y"),
    ("http://h", "get?a=%41%zz%", "http://h/get?a=%41%25zz%25&x=y"),
  ])
  func `queries of base and path are kept`(base: String, path: String, expected: String) async throws {
    let request = Sending(path: RequestPath(path), arguments: ["x": "y"])
    #expect(try await ScriptedClient(baseURL: base).url(request) == expected)
  }

  @Test(arguments: [
    ("https://o.example", "https://o.example"), ("https://o.example/", "https://o.example/"),
    ("https://o.example/a?b=1", "https://o.example/a?b=1"), ("https://o.example?b=1", "https://o.example?b=1"),
    ("https://o.example#f", "https://o.example"), ("HTTPS://O.example:444/a/", "https://o.example:444/a/"),
    ("http://[2001:DB8::1]/a", "http://[2001:db8::1]/a"),
  ])
  func `absolute path replaces the base`(path: String, expected: String) async throws {
    #expect(try await ScriptedClient(baseURL: "http://h/v1").url(Sending(path: RequestPath(path))) == expected)
    #expect(try await ScriptedClient(baseURL: "").url(Sending(path: RequestPath(path))) == expected)
  }

  @Test func `absolute path takes arguments too`() async throws {
    let request = Sending(path: "https://o.example/a?b=1", arguments: ["c": 2])
    #expect(try await ScriptedClient().url(request) == "https://o.example/a?b=1&c=2")
  }

  @Test func `missing base URL is an error`() async {
    let bench = ScriptedClient(baseURL: "")
    let error = await bench.failure(of: Sending(path: "/a"))
    #expect(error?.code == .invalidURL)
    #expect(error?.message == "The client has no base URL; set one, or give an absolute URL as path.")
    #expect(bench.transport.requests.isEmpty)
  }

  @Test(arguments: ["ftp://o/a", "file:///etc/passwd", "javascript://x", "ws://o"])
  func `other URL schemes are refused`(path: String) async {
    let bench = ScriptedClient()
    let error = await bench.failure(of: Sending(path: RequestPath(path)))
    #expect(error?.code == .invalidURL && error?.stage == .build)
    #expect(error?.message.hasSuffix("is not an absolute http or https URL; write it like https://host/path.") == true)
    #expect(bench.transport.requests.isEmpty)
  }

  // MARK: - Servers

  @Test func `request may select the CDN`() async throws {
    let bench = ScriptedClient(baseURL: "http://h/v1", cdnURL: "https://cdn.example/img/")
    #expect(try await bench.url(Sending(path: "/a.png", server: .cdn)) == "https://cdn.example/img/a.png")
    #expect(try await bench.url(Sending(path: "/a.png")) == "http://h/v1/a.png")
  }

  @Test func `missing CDN falls back to base`() async throws {
    #expect(try await ScriptedClient(baseURL: "http://h/v1").url(Sending(path: "a", server: .cdn)) == "http://h/v1/a")
  }

  @Test func `servers may change at run time`() async throws {
    let bench = ScriptedClient(baseURL: "http://one")
    #expect(try await bench.url(Sending()) == "http://one/p")
    bench.client.configure { $0.servers.current.baseURL = "http://two" }
    #expect(try await bench.url(Sending()) == "http://two/p")
    bench.client.configure { $0.servers.current.cdnURL = "http://cdn" }
    #expect(try await bench.url(Sending(server: .cdn)) == "http://cdn/p")
  }

  @Test func `request selects an environment by name`() async throws {
    let bench = ScriptedClient {
      $0.servers.current.name = "live"
      $0.servers.others = [ServerEnvironment("staging", baseURL: "http://staging/v2", cdnURL: "http://cdn.staging")]
    }
    #expect(try await bench.url(Sending(server: .environment("staging"))) == "http://staging/v2/p")
    #expect(try await bench.url(Sending(server: .environment("live"))) == "http://h.example/p")
    bench.client.configure {
      let isKnown = $0.servers.use("staging")
      #expect(isKnown)
    }
    #expect(try await bench.url(Sending()) == "http://staging/v2/p")
    #expect(try await bench.url(Sending(server: .cdn)) == "http://cdn.staging/p")
    bench.client.configure {
      let isKnown = $0.servers.use("nowhere")
      #expect(!isKnown)
    }
  }

  @Test func `environment names compare by bytes`() async throws {
    let (one, other) = ("recett\u{e9}", "recette\u{301}")
    let bench = ScriptedClient {
      $0.servers.current.name = one
      $0.servers.others = [ServerEnvironment(other, baseURL: "http://other")]
    }
    #expect(try await bench.url(Sending(server: .environment(one))) == "http://h.example/p")
    #expect(try await bench.url(Sending(server: .environment(other))) == "http://other/p")
    for (name, url) in [(other, "http://other"), (one, "http://h.example"), (one, "http://h.example")] {
      bench.client.configure {
        let isKnown = $0.servers.use(name)
        #expect(isKnown && $0.servers.current.baseURL == url)
      }
    }
  }

  @Test func `unknown environment lists the known ones`() async {
    let bench = ScriptedClient { $0.servers.others = [ServerEnvironment("staging", baseURL: "http://s")] }
    let error = await bench.failure(of: Sending(server: .environment("stagign")))
    #expect(error?.message == "No environment is named \"stagign\"; the client's environments are: default, staging.")
  }

  @Test func `former environment can be selected again`() async throws {
    let bench = ScriptedClient { $0.servers.others = [ServerEnvironment("staging", baseURL: "http://s")] }
    for (name, url) in [("staging", "http://s/p"), ("staging", "http://s/p"), ("default", "http://h.example/p")] {
      bench.client.configure {
        let isKnown = $0.servers.use(name)
        #expect(isKnown)
      }
      #expect(try await bench.url(Sending()) == url)
    }
    #expect(try await bench.url(Sending(server: .environment("staging"))) == "http://s/p")
  }

  @Test func `selecting keeps each environment once`() {
    let (live, staging) = (ServerEnvironment(baseURL: "http://h"), ServerEnvironment("staging", baseURL: "http://s"))
    var servers = ServerSettings(live, others: [staging])
    for name in ["default", "staging", "staging", "default", "staging"] {
      let isKnown = servers.use(name)
      #expect(isKnown)
    }
    #expect(servers == ServerSettings(staging, others: [staging, live]))
    let isKnown = servers.use("stagign")
    #expect(!isKnown)
    #expect(servers == ServerSettings(staging, others: [staging, live]))
  }

  @Test func `changes of the current environment are kept`() async throws {
    let bench = ScriptedClient { $0.servers.others = [ServerEnvironment("staging", baseURL: "http://s")] }
    bench.client.configure {
      let isKnown = $0.servers.use("staging")
      #expect(isKnown)
      $0.servers.current.baseURL = "http://changed"
    }
    #expect(try await bench.url(Sending(server: .environment("staging"))) == "http://changed/p")
    for (name, url) in [("staging", "http://changed"), ("default", "http://h.example"), ("staging", "http://changed")] {
      bench.client.configure {
        let isKnown = $0.servers.use(name)
        #expect(isKnown && $0.servers.current.baseURL == url)
      }
    }
  }

  @Test func `error names each environment once`() async {
    let bench = ScriptedClient { $0.servers.others = [ServerEnvironment("staging", baseURL: "http://s")] }
    bench.client.configure {
      let isKnown = $0.servers.use("staging")
      #expect(isKnown)
    }
    let error = await bench.failure(of: Sending(server: .environment("live")))
    #expect(error?.message == "No environment is named \"live\"; the client's environments are: staging, default.")
  }

  @Test func `clients are independent`() async throws {
    let one = ScriptedClient(baseURL: "http://one")
    let two = ScriptedClient(baseURL: "http://two")
    async let first = one.url(Sending())
    async let second = two.url(Sending())
    #expect(try await [first, second] == ["http://one/p", "http://two/p"])
  }

  @Test func `shared client needs a base URL`() async {
    let error = await APIClient.shared.outcome(of: Sending()).error
    #expect(error?.message == "The client has no base URL; set one, or give an absolute URL as path.")
  }

  // MARK: - Families

  @Test func `family adds base and arguments`() async throws {
    let family = RequestFamily(
      "shop", baseURL: "https://shop.example/v2", cdnURL: "https://cdn.shop", arguments: ["app": "shop", "v": 1])
    let bench = ScriptedClient()
    #expect(
      try await bench.url(Sending(path: "/a", family: family, arguments: ["v": 2, "q": "x"]))
        == "https://shop.example/v2/a?app=shop&v=2&q=x")
    #expect(
      try await bench.url(Sending(path: "/a", server: .cdn, family: family)) == "https://cdn.shop/a?app=shop&v=1")
  }

  @Test func `family arguments go into bodies`() async throws {
    let family = RequestFamily("shop", arguments: ["app": "shop"])
    let request = Sending(method: .post, family: family, arguments: ["q": "x"])
    #expect(try await ScriptedClient().sent(request)?.text == "app=shop&q=x")
  }

  @Test func `family rules rank between client and request`() async throws {
    var family = RequestFamily(
      "shop", formats: Formats(argumentStyle: ArgumentStyle(booleans: .digits)),
      validation: ResponseValidation(status: [404]))
    let bench = ScriptedClient({ $0.formats.argumentStyle = ArgumentStyle(booleans: .words) }) { _ in .status(404) }
    #expect(try await bench.url(Sending(family: family, arguments: ["a": true]))?.hasSuffix("?a=1") == true)
    #expect(await bench.failure(of: Sending())?.code == .status)
    #expect(await bench.failure(of: Sending(family: family, statusRule: .success))?.code == .status)
    family.formats.argumentStyle = .inherited
    #expect(try await bench.url(Sending(family: family, arguments: ["a": true]))?.hasSuffix("?a=true") == true)
  }
}
