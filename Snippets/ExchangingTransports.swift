// The transport on URLSession, selected by its name. It is a separate product on Linux.
import Errand
import ErrandURLSession

let client = APIClient(baseURL: "https://api.example.com")

// snippet.choose
client.configure { $0.transport = .urlSession }

// snippet.libcurl
client.configure { $0.transport = .named("curl") }

// snippet.settings
var settings = URLSessionSettings()
settings.connectionsPerHost = 4
let transport = try URLSessionTransport(settings)
client.configure { $0.transport = .own(transport) }

settings.connectionsPerHost = 8
try transport.update(settings)  // for exchanges that begin later

// snippet.trust
func pin(_ keyInUse: String, _ keyInReserve: String, in settings: inout URLSessionSettings) {
  settings.pins = [
    PublicKeyPins(host: "api.example.com", sha256: [keyInUse, keyInReserve])
  ]
}

// snippet.refused
do {
  settings.minimumTLSVersion = .tls1_3
  try transport.update(settings)
} catch {
  print(error)  // On Linux: URLSession ignores `minimumTLSVersion` on Linux; …
}
// snippet.end

print(transport.capabilities)
