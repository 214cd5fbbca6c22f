// Cookies: off until a client gets a jar.
import Errand
import ErrandHTTP
import ErrandPublicSuffix
import ErrandTesting
import Foundation

struct Login: APIRequest {
  var path: Path { "/login" }
  var method: HTTPMethod { .post }
  typealias Response = String
}

let server = try LoopbackServer { request in
  .ok(request.headers["Cookie"] ?? "nobody").setting("Set-Cookie", to: "sid=s3; Path=/; Max-Age=3600")
}

// snippet.jar
let jar = CookieJar()
var configuration = ClientConfiguration(baseURL: server.url)
configuration.cookies = .jar(jar)
let client = APIClient(configuration)
_ = try await client.send(Login())  // the response sets a cookie, and later calls send it
jar.removeAll()  // logged out
// snippet.end

// snippet.accounts
let jars = CookieJars()
configuration.cookies = .perAccount(jars)
// snippet.end
let sessions = APIClient(configuration)

// snippet.ignored
configuration.cookies = .jar(jar)
configuration.cache.ignoredCookies = ["AWSALB", "AWSALBCORS"]
// snippet.end
configuration.cookies = .perAccount(jars)
_ = try await sessions.send(Login())
// snippet.logout
sessions.removeCookies(of: "ada")
// snippet.end

// snippet.suffixes
let shared = CookieJar(publicSuffixes: PublicSuffixList.system)
// snippet.end
configuration.cookies = .jar(shared)

// snippet.out
struct Beacon: APIRequest {
  var path: Path { "/beacon" }
  var cookies: CookieUse { .none }
}
// snippet.end
_ = try await sessions.send(Beacon())

// snippet.own
jar.set(try Cookie("lang", "de", host: "api.example.com", path: "/v1"))
let names = jar.cookies(for: try HTTPURL("https://api.example.com/v1/users")).map(\.name)
jar.remove { $0.name == "lang" }
// snippet.end
print(names)

// snippet.saving
let saved = try JSONEncoder().encode(jar.all)
let restored = CookieJar(try JSONDecoder().decode([Cookie].self, from: saved))
// snippet.end
print(restored)
