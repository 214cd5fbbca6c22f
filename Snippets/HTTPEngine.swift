// The configuration of the transport on the library's own HTTP engine.
#if os(Linux)
  import Errand

  let client = APIClient(baseURL: "http://api.example.com")

  // snippet.knowledge
  var engine = EngineConfiguration()
  engine.httpVersion = .http2PriorKnowledge
  let transport = try EngineTransport(engine)
  client.configure { $0.transport = .own(transport) }
  // snippet.end

  print(transport.capabilities)
#endif
