// The configuration of the transport on libcurl.
#if os(Linux)
  import Errand

  var settings = CurlConfiguration()
  settings.proxy = .url("http://proxy.example.com:3128", user: "ada", password: "secret")
  settings.httpVersion = .automatic
  settings.minimumTLSVersion = .tls1_3
  settings.addressOverrides = ["api.example.com:443": "127.0.0.1"]
  settings.maximumIdleAge = .seconds(30)

  let transport = try CurlTransport(settings)
  let client = APIClient(baseURL: "https://api.example.com")
  client.configure { $0.transport = .own(transport) }

  settings.proxy = .environment
  try transport.update(settings)  // for exchanges that begin later

  struct Version: APIRequest {
    var path: Path { "/version" }
    typealias Response = String
  }

  let version = await withTaskExecutorPreference(transport.executor) {
    await client.outcome(of: Version()).value
  }
  print(version ?? "no answer")

  do {
    settings.certificateAuthority = .file(path: "no/such/authority.pem")
    try transport.update(settings)
  } catch {
    print(error)  // The certificate authority's file cannot be read; give the path of a PEM file.
  }
  print(transport.capabilities)
#endif
