// The configuration of the transport on libcurl.
#if os(Linux)
  import Errand
  import ErrandCurl

  var settings = CurlConfiguration()
  settings.proxy = .url("socks5h://proxy.example.com:1080", user: "ada", password: "secret")
  settings.httpVersion = .automatic
  settings.minimumTLSVersion = .tls1_3
  settings.maximumIdleAge = .seconds(30)

  let transport = try CurlTransport(settings)
  let client = APIClient(baseURL: "https://api.example.com")
  client.configure { $0.transport = .own(transport) }

  settings.proxy = .environment
  try transport.update(settings)  // for exchanges that begin later

  print(transport.capabilities)
#endif
