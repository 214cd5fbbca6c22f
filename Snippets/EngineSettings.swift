// The configuration of the engine, and the choice of another transport.
#if os(Linux)
  import Errand
  import ErrandEngine

  // snippet.settings
  var settings = EngineConfiguration()
  settings.proxy = .url("http://proxy.example.com:3128", user: "ada", password: "secret")
  settings.minimumTLSVersion = .tls1_3
  settings.maximumIdleAge = .seconds(30)

  let transport = try EngineTransport(settings)
  let client = APIClient(baseURL: "https://api.example.com")
  client.configure { $0.transport = .own(transport) }

  // snippet.update
  settings.proxy = .environment
  try transport.update(settings)  // for exchanges that begin later

  // snippet.cleartext
  var cleartext = EngineConfiguration()
  cleartext.httpVersion = .http2PriorKnowledge
  let internalTransport = try EngineTransport(cleartext)
  let internalClient = APIClient(baseURL: "http://service.internal")
  internalClient.configure { $0.transport = .own(internalTransport) }

  // snippet.executor
  struct Version: APIRequest {
    var path: Path { "/version" }
    typealias Response = String
  }

  let version = await withTaskExecutorPreference(transport.executor) {
    await client.outcome(of: Version()).value
  }

  // snippet.libcurl
  client.configure { $0.transport = .named("curl") }
  // snippet.end

  print(version ?? "no answer")
  print(transport.capabilities)
#endif
